// Reports of `policy apply`, `policy activate`, `doctor` and the startup log about missing sources of policies.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { createSourceCheck, rememberSources } from '../../src/setup/fact-sources.ts'
import { runCommand, startAlone } from '../service/start-service.ts'
import { openTemporaryStore, temporaryFolder } from '../store/temporary-store.ts'

const SCREENER = join(import.meta.dir, '../../docs/examples/screener.yaml')
const MISSING = 'the running service lacks a source: the screener stub is not in the config file'

test('each kind of missing source is described', async () => {
  const { store, remove } = await openTemporaryStore()
  const { needs } = draftRevision(`name: P
reads:
  held: { kind: token-balance, contract: "0x00000000000000000000000000000000000000c7", chain: base }
  own: { kind: native-balance }
rules:
  - { id: a, deny: 'reads.held == 0 || reads.own == 0 || chain.base_fee > ether(5)' }
  - { id: b, deny: 'client.country == "US" || screener("stub").flagged || velocity.count(hours(1)) > 5' }
`).compiled
  const missing = (environment: Record<string, string>, ...words: string[]) =>
    createSourceCheck(loadConfig({ arguments: words, environment }))(store, needs)
  try {
    const all = await missing({})
    expect(all).toHaveLength(5)
    const texts = [
      'reads.held needs an RPC URL of base',
      'reads.own needs an RPC URL of a chain',
      'chain.base_fee needs',
    ]
    for (const text of [...texts, 'client.country', 'the screener stub']) expect(all.join('\n')).toContain(text)
    const geography = { COUNTERSIGN_GEOIP_FILE: '/geo.mmdb' }
    const rpc = { COUNTERSIGN_RPC_ETHEREUM: 'https://rpc.example' }
    expect(await missing({ ...geography, ...rpc }, '--config', SCREENER)).toEqual([
      expect.stringContaining('reads.held needs an RPC URL of base'),
    ])
    // After the service has started, its settings apply, not the settings of the command.
    await rememberSources(store, loadConfig({ arguments: ['--config', SCREENER], environment: geography }))
    expect(await missing({ COUNTERSIGN_RPC_BASE: 'https://rpc.example' })).toHaveLength(3)
  } finally {
    await remove()
  }
})

test('a policy whose screener is missing in the running service is reported', async () => {
  const folder = temporaryFolder()
  const dataDirectory = folder.path
  const run = (...words: string[]) => runCommand(dataDirectory, ...words)
  const found = async () =>
    JSON.parse((await run('doctor', '--json', '--config', SCREENER)).stdout).exposure.filter(
      ({ check }: { check: string }) => check === 'source',
    )
  try {
    const first = await startAlone({ dataDirectory })
    expect(await found()).toEqual([])
    const [{ id, name }] = JSON.parse((await run('policy', 'list', '--json')).stdout).data
    const path = join(dataDirectory, 'screened.yaml')
    await Bun.write(path, `name: ${JSON.stringify(name)}\nrules: [{ id: s, deny: 'screener("stub").flagged' }]\n`)
    const applied = await run('policy', 'apply', path, '--config', SCREENER)
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining(MISSING)])
    await run('policy', 'activate', id, '--revision', '1')
    const activated = await run('policy', 'activate', id, '--revision', '2', '--config', SCREENER)
    expect(activated.stdout).toContain(MISSING)
    const problem = { result: 'problem', subject: `demo: ${name}`, detail: expect.stringContaining(MISSING) }
    expect(await found()).toMatchObject([problem])
    await first.stop()

    const second = await startAlone({ dataDirectory })
    const logged = await second.logLine(({ message }) => message === 'a policy reads a source that the service lacks')
    expect(logged).toMatchObject({ level: 'warn', policy: `demo: ${name}`, reason: expect.stringContaining(MISSING) })
    await second.stop()
  } finally {
    folder.remove()
  }
}, 60_000)
