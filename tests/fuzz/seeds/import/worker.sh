worker_command=$(cat <<- EOM
  python scripts/performance/run_script.py --model_recipe_name llama3_70b --num_gpus 64 --tensor_model_parallel_size 4
  echo
EOM
)
echo "$worker_command" > worker.sh
torchrun --no-python bash worker.sh
