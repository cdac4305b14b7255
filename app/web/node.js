// Before the command line under Node: the program lies beside this file, no network is asked for it, and the
// environment is the real one.
globalThis.fetch = undefined;
Module.preRun = () => Object.assign(ENV, process.env);
