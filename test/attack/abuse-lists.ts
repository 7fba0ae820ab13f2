// Attacks on the sources of address lists. Each attack kills its own service.
import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment } from '../service/run-to-end.ts'
import { runCommand, startAlone } from '../service/start-service.ts'
import { type CertificateFolder, createCertificateFolder } from '../support/certificates.ts'
import { COMMAND_WORDS } from '../support/run-program.ts'
import { until } from '../support/until.ts'
import type { Abuse } from './abuse.ts'

const LIMIT = { limitMs: 60_000 }
const ROOT = join(import.meta.dir, '..', '..')
const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Creates a list of people with one wallet each. */
const peopleWith = (first: number, count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      id: `p${first + index}`,
      kind: 'person',
      name: `Ivan Primerov ${(first + index).toString(36)}`,
      wallets: [wallet(first + index)],
    })),
  )

const diesBetween: Abuse = {
  row: 53,
  name: 'killed-before-wallets-are-shared',
  mustHappen: 'the wallets of a sanctions list version are shared after kill -9',
  run: async (_, faults) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-attack-lists-'))
    const dataDirectory = join(folder, 'data')
    const start = () => startAlone({ dataDirectory })
    let service = await start()
    try {
      const [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')]
      writeFileSync(before, peopleWith(1, 4_000))
      writeFileSync(after, peopleWith(2_001, 4_000))
      const shared = async (): Promise<string> =>
        (await runCommand(dataDirectory, 'lists', 'export', 'attacked', '--shared')).stdout
      const filled = await runCommand(dataDirectory, 'screening-list', 'import', 'attacked', before, '--format', 'json')
      faults.holds(`the first import: ${filled.stderr}`, filled.code === 0)
      await until(async () => (await shared()).includes(wallet(1)), { ...LIMIT, what: 'the first wallets' })

      const store = new Database(join(dataDirectory, 'countersign.db'), { readonly: true })
      const version = () => store.query('SELECT version_id FROM screening_lists').values()[0]?.[0]
      const first = version()
      const child = Bun.spawn([...COMMAND_WORDS, 'screening-list', 'import', 'attacked', after], {
        cwd: ROOT,
        env: { ...cleanEnvironment(), COUNTERSIGN_DATA_DIR: dataDirectory },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await until(() => version() !== first, { ...LIMIT, what: 'the second version' })
      child.kill('SIGKILL')
      service.process.kill('SIGKILL')
      await Promise.all([child.exited, service.process.exited])
      store.close()
      service = await start()
      await until(async () => (await shared()).includes(wallet(6_000)), LIMIT).catch(() => {
        faults.add('the wallets of the second version are not shared')
      })
      faults.holds('a removed wallet is still shared', !(await shared()).includes(wallet(1)))
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** A server on this machine that an operator's screener may reach and an organization's list may not. */
const startInside = (folder: CertificateFolder) => {
  const authority = folder.authority('attacked')
  const { certificate, key } = folder.server(authority, 'localhost', 'DNS:localhost')
  const asked: { readonly path: string; readonly port: number }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') },
    fetch: (request, self) => {
      asked.push({ path: new URL(request.url).pathname, port: self.requestIP(request)?.port ?? 0 })
      return Response.json({ flagged: false })
    },
  })
  return { url: `https://localhost:${server.port}`, authority: authority.certificate, asked, server }
}

const openConnection: Abuse = {
  row: 15,
  name: 'connection-of-a-wider-reach',
  mustHappen: 'an organization’s list is not read over an open connection to a screener on this machine',
  run: async (_, faults) => {
    const folder = createCertificateFolder()
    const { url, authority, asked, server } = startInside(folder)
    const config = join(folder.path, 'config.json')
    const screener = { url: `${url}/screened/\${address}`, reach: 'loopback', answer: { flagged: '/flagged' } }
    writeFileSync(config, JSON.stringify({ screeners: { inside: { ...screener, 'cache-seconds': 0 } } }))
    const service = await startAlone({
      arguments: ['--config', config],
      environment: { NODE_EXTRA_CA_CERTS: authority },
    })
    try {
      const { quickstart, dataDirectory } = service
      const rules = [{ id: 'clean', allow: 'screener("inside").flagged == false' }]
      const policy = join(folder.path, 'policy.json')
      writeFileSync(policy, JSON.stringify({ name: 'Screened', default: 'deny', rules }))
      const id = (await runCommand(dataDirectory, 'policy', 'list', '--quiet')).stdout.trim()
      await runCommand(dataDirectory, 'policy', 'apply', policy, '--policy', id, '--config', config)
      const body = { from: wallet(1), chain: 'base', verification_hash: quickstart['VERIFICATION_HASH'] }
      const screened = async (): Promise<boolean> => {
        await service.attest(body)
        return asked.length > 1
      }
      await until(screened, { ...LIMIT, what: 'the screener to be asked' })
      const admin = async (method: string, path: string, sent: object) => {
        const response = await fetch(`${quickstart['DASHBOARD_URL']}/admin/v1/organizations/demo/lists${path}`, {
          method,
          headers: { authorization: `Bearer ${quickstart['ADMIN_API_KEY']}`, 'content-type': 'application/json' },
          body: JSON.stringify(sent),
        })
        faults.holds(`${method} ${path}: ${response.status}`, response.status < 300)
      }
      await admin('POST', '', { name: 'listed' })
      await admin('PUT', '/listed/source', { url: `${url}/listed`, format: 'csv' })
      const failure = async (): Promise<string> => {
        // The connection stays open as long as requests are answered.
        await service.attest(body)
        const { stdout } = await runCommand(dataDirectory, 'list-source', 'show', 'listed', '--json')
        return /not allowed/.exec(stdout)?.[0] ?? ''
      }
      await until(async () => (await failure()) !== '', { ...LIMIT, what: 'the list to be rejected' }).catch(
        (error: unknown) => faults.add(String(error)),
      )
      const ports = new Set(asked.filter(({ path }) => path.startsWith('/screened/')).map(({ port }) => port))
      faults.holds('no connection was used twice', ports.size < asked.length)
      faults.holds('the list was read', !asked.some(({ path }) => path === '/listed'))
    } finally {
      await service.stop()
      await server.stop(true)
      folder.remove()
    }
  },
}

export const LIST_ABUSES: readonly Abuse[] = [openConnection, diesBetween]
