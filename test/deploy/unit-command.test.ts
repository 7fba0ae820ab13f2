// The script deploy/systemd/countersign-command, which runs a command with the user, folder, environment and credentials of
// the unit.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandWorld, openCommandWorld } from '../cli/world.ts'
import { runToEnd } from '../service/run-to-end.ts'

const ROOT = join(import.meta.dir, '..', '..')
const FOLDER = join(ROOT, 'deploy', 'systemd')
const script = readFileSync(join(FOLDER, 'countersign-command'), 'utf8')
const unit = readFileSync(join(FOLDER, 'countersign.service'), 'utf8')

/** A systemd-run that copies credentials as systemd does, and ignores users and modes. */
const SYSTEMD_RUN = `#!/bin/sh
set -eu
CREDENTIALS_DIRECTORY=$(dirname "$0")/credentials
export CREDENTIALS_DIRECTORY
mkdir -p "$CREDENTIALS_DIRECTORY"
while :; do
  case $1 in
    --property=LoadCredential=*)
      pair=\${1#--property=LoadCredential=}
      cp "\${pair#*:}" "$CREDENTIALS_DIRECTORY/\${pair%%:*}"
      ;;
    --setenv=*) export "\${1#--setenv=}" ;;
    --working-directory=*) cd "\${1#--working-directory=}" ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
exec "$@"
`

let world: CommandWorld
beforeAll(async () => {
  world = await openCommandWorld()
})
afterAll(() => world.remove())

test('a command finds the store and the secrets of the unit', async () => {
  const [etc, programs] = [join(world.root, 'etc'), join(world.root, 'bin')]
  for (const folder of [etc, programs]) mkdirSync(folder)
  writeFileSync(join(etc, 'store'), `sqlite:${join(world.root, 'countersign.db')}\n`)
  for (const name of ['passphrase', 'evidence-key'])
    writeFileSync(join(etc, name), `${'ab'.repeat(32)}\n`, { mode: 0o600 })
  const here = script
    .replaceAll('/etc/countersign', etc)
    .replaceAll('/var/lib/countersign', join(world.root, 'elsewhere'))
    .replaceAll('/usr/local/bin/bun', process.execPath)
  const path = join(programs, 'countersign-command')
  writeFileSync(path, here)
  writeFileSync(join(programs, 'systemd-run'), SYSTEMD_RUN)
  for (const name of ['countersign-command', 'systemd-run']) chmodSync(join(programs, name), 0o755)
  const environment = { CODE: ROOT, PATH: `${programs}:${process.env['PATH']}` }

  const made = await runToEnd([path, 'org', 'create', 'two words', '--name', "It's one"], environment)
  expect([made.code, made.stderr]).toEqual([2, expect.stringContaining('SLUG')])
  const named = await runToEnd([path, 'org', 'create', 'acme', '--name', "It's one"], environment)
  expect([named.code, named.stdout]).toEqual([0, expect.stringContaining("It's one")])
  const added = await runToEnd([path, 'attester', 'add', '--kind', 'secp256k1'], environment)
  expect([added.code, added.stderr]).toEqual([0, ''])
  expect((await world.run('attester', 'list')).stdout).toContain('secp256k1')
}, 60_000)

test('the script uses the credentials, user, folder and data folder of the unit', () => {
  const ofUnit = [...unit.matchAll(/^LoadCredential=(.+)$/gm)].map(([, pair]) => pair)
  const ofScript = [...script.matchAll(/--property=LoadCredential=(\S+)/g)].map(([, pair]) => pair)
  expect(ofScript).toEqual(ofUnit)
  for (const [, name, value] of unit.matchAll(/^Environment=(COUNTERSIGN_\w+_FILE)=%d\/(\S+)$/gm)) {
    expect(script).toContain(`export ${name}="$CREDENTIALS_DIRECTORY/${value}"`)
  }
  const of = (pattern: RegExp): string => pattern.exec(unit)?.[1] ?? 'missing in the unit'
  expect(script).toContain(`--uid=${of(/^User=(.+)$/m)} --gid=${of(/^Group=(.+)$/m)}`)
  expect(script).toContain(`:-${of(/^WorkingDirectory=(.+)$/m)}}`)
  expect(script).toContain(`--setenv=COUNTERSIGN_DATA_DIR=${of(/^Environment=COUNTERSIGN_DATA_DIR=(.+)$/m)} `)
  expect(script).toContain(`EnvironmentFile=${of(/^EnvironmentFile=(.+)$/m)} `)
  expect(script).toContain(`exec ${of(/^ExecStart=(\S+)/m)} `)
})
