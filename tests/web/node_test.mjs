// The command line under Node answers as the native program does, to the last byte: every plan that ships, and what is
// refused. usage: node tests/web/node_test.mjs PROGRAM CLI
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [program, cli] = process.argv.slice(2).map((p) => resolve(p));
const folder = mkdtempSync(join(tmpdir(), 'pentamesh-node-'));
let failed = 0, same = 0;

function answer(command, args) {
  const [first, ...rest] = [...command, ...args];
  const { status, stdout, stderr } = spawnSync(first, rest, { cwd: folder, maxBuffer: 1 << 28 });
  return { status, out: stdout.toString('latin1'), said: stderr.toString('latin1') };
}

function compare(args, wanted_status = 0) {
  const native = answer([program], args), node = answer([process.execPath, cli], args);
  const equal = native.out === node.out && native.said === node.said && native.status === node.status;
  const empty = native.out.length + native.said.length === 0;
  if (equal && !empty && native.status === wanted_status) return void ++same;
  ++failed;
  console.log('FAIL  ' + args.join(' ') + ': status ' + native.status + ' and ' + node.status + ', ' + native.out.length + ' and '
    + node.out.length + ' bytes; ' + node.said.slice(0, 300));
}

const plans = readdirSync('presets/plans').map((f) => f.replace('.plan.json', ''));
for (const plan of plans)
  for (const command of ['report', 'timeline', 'tensors']) compare([command, plan, '--json']);
for (const args of [['report', 'mesh-8'], ['report', 'mesh-8', '--html'], ['layer', 'llama-3-70b-3d', '--json'], ['presets'],
  ['compare', 'llama-3.1-405b-16k', 'llama-3.1-405b-8k', '--json'], ['sensitivity', 'mesh-8'], ['schema', 'plan'],
  ['export', 'llama-3-70b-3d', '--to', 'megatron'], ['blame', 'mesh-8', '0-3'], ['lesson', '01-two-walls']]) compare(args);

// Files of the real file system, read and written; and what is wrong is said in the same words.
writeFileSync(join(folder, 'plan é.json'), readFileSync('presets/plans/mesh-8.plan.json'));
compare(['report', 'plan é.json', '--json']);
writeFileSync(join(folder, 'broken.json'), '{"format": "pentamesh.plan/1", ');
compare(['report', 'broken.json'], 1);
compare(['report', 'no-such-plan'], 3);

console.log(same + ' answers are the same under Node' + (failed ? ', ' + failed + ' are not' : ''));
rmSync(folder, { recursive: true, force: true });
process.exit(failed === 0 && same > 50 ? 0 : 1);
