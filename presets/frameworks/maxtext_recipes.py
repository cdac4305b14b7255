# MaxText's lists of benchmarks (AI-Hypercomputer/maxtext e591f30c, benchmarks/maxtext_*_model_configs.py): each variable that this class makes
# is a recipe.
recipes = "MaxTextModel"
