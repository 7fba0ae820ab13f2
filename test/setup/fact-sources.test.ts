// Policies whose sources the service lacks: `policy apply`, `policy activate`, `doctor` and the start's log name them.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { createSourceCheck, rememberSources } from '../../src/setup/fact-sources.ts'
import { runCommand, startAlone } from '../service/start-service.ts'
import { openTemporaryStore, temporaryFolder } from '../store/temporary-store.ts'

const SCREENER = join(import.meta.dir, '../../docs/examples/screener.yaml')
const LACKING = 'the running service lacks a source: the screener stub is not in the config file'

test('each kind of source that the settings lack is described', async () => {
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
    const texts = (await missing({})).join('\n')
    for (const text of ['reads.held needs an RPC URL of base', 'reads.own needs an RPC URL of a chain'])
      expect(texts).toContain(text)
    for (const text of ['chain.base_fee needs', 'client.country', 'the screener stub']) expect(texts).toContain(text)
    expect(await missing({})).toHaveLength(5)
    const geography = { COUNTERSIGN_GEOIP_FILE: '/geo.mmdb' }
    const ofBase = await missing(
      { ...geography, COUNTERSIGN_RPC_ETHEREUM: 'https://rpc.example' },
      '--config',
      SCREENER,
    )
    expect(ofBase).toEqual([expect.stringContaining('reads.held needs an RPC URL of base')])
    // The settings of a command do not count after a start of the service.
    await rememberSources(store, loadConfig({ arguments: ['--config', SCREENER], environment: geography }))
    expect(await missing({ COUNTERSIGN_RPC_BASE: 'https://rpc.example' })).toHaveLength(3)
  } finally {
    await remove()
  }
})

test('a policy with a screener that the running service lacks is reported', async () => {
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
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining(LACKING)])
    await run('policy', 'activate', id, '--revision', '1')
    const activated = await run('policy', 'activate', id, '--revision', '2', '--config', SCREENER)
    expect(activated.stdout).toContain(LACKING)
    const problem = { result: 'problem', subject: `demo: ${name}`, detail: expect.stringContaining(LACKING) }
    expect(await found()).toMatchObject([problem])
    await first.stop()

    const second = await startAlone({ dataDirectory })
    const logged = await second.logLine(({ message }) => message === 'a policy reads a source that the service lacks')
    expect(logged).toMatchObject({ level: 'warn', policy: `demo: ${name}`, reason: expect.stringContaining(LACKING) })
    await second.stop()
  } finally {
    folder.remove()
  }
}, 60_000)
