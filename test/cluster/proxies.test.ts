// Both proxy samples with their TLS before one node that is there and two that are not: what is refused goes on to the next,
// streams come as they are sent, and what is not for outside stays inside.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { problemType } from '../../src/server/problem.ts'
import { STRICT_TRANSPORT_SECURITY } from '../../src/server/security-headers.ts'
import { freePort, type RunningService, startAlone } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { startWatchdog } from '../support/watchdog.ts'
import { JSON_TYPE, register, walletOf } from './caller.ts'

const DEPLOY = join(import.meta.dir, '..', '..', 'deploy')
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`
const folder = newFolder()
setDefaultTimeout(60_000)

const missing = (name: string): string | null =>
  [name, 'openssl'].filter((program) => Bun.which(program, { PATH }) === null).join(', ') || null

let service: RunningService
/** Of one node that runs, and of two places where nobody listens, in the order of the samples. */
let nodes: { readonly 8080: number; readonly 8081: number; readonly 8082: number }[]
const certificates = join(folder, 'deploy', 'secrets', 'tls')

beforeAll(async () => {
  if (missing('nginx') !== null && missing('haproxy') !== null) return
  // The proxies' own users read it.
  chmodSync(folder, 0o755)
  // The certificates that the page says how to make, by its own commands.
  const page = readFileSync(join(DEPLOY, 'README.md'), 'utf8')
  const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].find(([, text]) => text?.includes('openssl req'))?.[1]
  const made = Bun.spawnSync(['sh', '-ec', commands ?? 'exit 1'], { cwd: folder })
  if (!made.success) throw new Error(made.stderr.toString())
  const ports = { 8080: freePort(), 8081: freePort(), 8082: freePort() }
  service = await startAlone({
    environment: {
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_API_LISTEN: `127.0.0.1:${ports[8080]}`,
      COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${ports[8081]}`,
      COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${ports[8082]}`,
    },
  })
  const absent = () => ({ 8080: freePort(), 8081: freePort(), 8082: freePort() })
  nodes = [absent(), ports, absent()]
})
afterAll(async () => {
  await service?.stop()
})

type NodePort = 8080 | 8081 | 8082
/** Where each node's listener is. */
type PortOf = (node: number, port: NodePort) => number | undefined

const ofNodes: PortOf = (node, port) => nodes[node - 1]?.[port]
const withAddresses = (text: string, portOf: PortOf): string =>
  text.replaceAll(
    /\bnode([123]):(808[012])\b/g,
    (_match, node: string, port: string) => `127.0.0.1:${portOf(Number(node), Number(port) as NodePort)}`,
  )

interface Proxy {
  /** Host and port of the three servers, TLS. */
  readonly api: { readonly host: string; readonly port: number }
  readonly portal: { readonly host: string; readonly port: number }
  readonly dashboard: { readonly host: string; readonly port: number }
  readonly log: () => string
  stop(): Promise<void>
}

const run = async (
  program: string,
  name: string,
  options: readonly string[],
  ports: Omit<Proxy, 'log' | 'stop'>,
): Promise<Proxy> => {
  const output = join(folder, `${name}.log`)
  const child = Bun.spawn([Bun.which(program, { PATH }) ?? program, ...options], {
    stdin: 'ignore',
    stdout: Bun.file(output),
    stderr: Bun.file(`${output}.errors`),
  })
  const watchdog = startWatchdog(child.pid, null)
  // JSON may have slashes escaped.
  const log = (): string => readFileSync(output, 'utf8').replaceAll('\\/', '/')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await child.exited
    await watchdog.dismiss()
  }
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${readFileSync(`${output}.errors`, 'utf8')}`)
    return fetch(`https://127.0.0.1:${ports.api.port}/`, { tls: { rejectUnauthorized: false } }).then(
      () => true,
      () => false,
    )
  })
  return { ...ports, log, stop }
}

const startNginx = (name = 'nginx', portOf: PortOf = ofNodes): Promise<Proxy> => {
  const port = freePort()
  const access = join(folder, `${name}.access`)
  writeFileSync(access, '')
  const text = withAddresses(readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8'), portOf)
    .replaceAll('/etc/nginx/tls', certificates)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('/var/log/nginx/access.log json buffer=64k flush=1s', `${access} json`)
    .replace('/tmp/nginx.pid', join(folder, `${name}.pid`))
    .replace(/^worker_rlimit_nofile.*$/m, '')
    .replace('worker_processes auto', 'daemon off;\nmaster_process off;\nworker_processes 1')
    .replace('http {', `http {\nclient_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;`)
  const path = join(folder, `${name}.conf`)
  writeFileSync(path, text)
  const at = (host: string) => ({ host, port })
  return run('nginx', name, ['-p', folder, '-e', join(folder, `${name}.errors`), '-c', path], {
    api: at('api.example.com'),
    portal: at('verify.example.com'),
    dashboard: at('admin.example.com'),
  }).then((proxy) => ({ ...proxy, log: () => readFileSync(access, 'utf8') }))
}

const startHaproxy = (name = 'haproxy', portOf: PortOf = ofNodes): Promise<Proxy> => {
  const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
  const text = withAddresses(readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8'), portOf)
    .replaceAll('/etc/haproxy/tls', certificates)
    .replace('bind :443 ', `bind 127.0.0.1:${ports.api} `)
    .replace('bind :8443 ', `bind 127.0.0.1:${ports.portal} `)
    .replace('bind :9443 ', `bind 127.0.0.1:${ports.dashboard} `)
    .replace('  maxconn 65536', '  maxconn 1000')
  const path = join(folder, `${name}.cfg`)
  writeFileSync(path, text)
  const at = (port: number) => ({ host: 'localhost', port })
  return run('haproxy', name, ['-db', '-f', path], {
    api: at(ports.api),
    portal: at(ports.portal),
    dashboard: at(ports.dashboard),
  })
}

const call = (
  { host, port }: Proxy['api'],
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Response> =>
  fetch(`https://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { ...init.headers, host },
    tls: { rejectUnauthorized: false },
  })

/** What a stream says until it has said this much. */
const readStream = ({ host, port }: Proxy['api'], path: string, key: string, part: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    })
    socket.on('data', (chunk: Buffer) => {
      text += String(chunk)
      if (!text.includes(part)) return
      socket.destroy()
      resolve(text)
    })
    socket.on('error', reject)
    socket.on('end', () => reject(new Error(`the stream ended after ${text}`)))
  })

/** What is answered to these bytes until the proxy closes. */
const exchangeTls = ({ host, port }: Proxy['api'], sent: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false }, () => {
      socket.write(sent)
    })
    socket.on('data', (chunk: Buffer) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(text))
  })

for (const [name, start] of [
  ['nginx', startNginx],
  ['haproxy', startHaproxy],
] as const) {
  const lacking = missing(name)
  describe.skipIf(lacking !== null)(lacking === null ? name : `${name} (not installed: ${lacking})`, () => {
    let proxy: Proxy
    const value = (key: string): string => service.quickstart[key] ?? ''
    const attest = (headers: Record<string, string> = {}): Promise<Response> =>
      call(proxy.api, '/v2/attestation', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-api-key': value('ATTESTATION_API_KEY'), ...headers },
        body: JSON.stringify({
          from: walletOf('proxied'),
          chain: 'base',
          verification_hash: value('VERIFICATION_HASH'),
        }),
      })
    /** The same before nobody. */
    let away: Proxy
    beforeAll(async () => {
      proxy = await start()
      away = await start(`${name}-away`, () => freePort())
    })
    afterAll(async () => {
      await proxy?.stop()
      await away?.stop()
    })

    test('two nodes that refuse connections are not noticed, with a key and without', async () => {
      for (let count = 0; count < 12; count++) {
        const response = await attest(count % 2 === 0 ? {} : { 'idempotency-key': `${name}-${count}` })
        expect({ count, status: response.status }).toEqual({ count, status: 200 })
        expect(response.headers.get('strict-transport-security')).toStartWith('max-age=')
      }
    })

    test('a request’s id is the caller’s, or one of the proxy’s', async () => {
      for (const id of ['of-its-caller', 'a:b/c=[d]#1']) {
        expect((await attest({ 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
      }
      expect((await attest()).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{32,36}$/)
    })

    test('an event stream comes as it is sent', async () => {
      const { sessionId } = await register(service.url, service.quickstart, walletOf(`stream of ${name}`))
      const path = `/api/v1/status/realtime/individual/${sessionId}`
      const text = await readStream(proxy.api, path, value('IDENTITY_API_KEY'), '"status":"pending"')
      expect(text.toLowerCase()).toContain('content-type: text/event-stream')
      expect(text.toLowerCase()).toContain('x-accel-buffering: no')
    })

    test('the three listeners are apart, and what a node says of itself stays inside', async () => {
      for (const path of ['/livez', '/readyz', '/metrics']) expect((await call(proxy.api, path)).status).toBe(404)
      expect(await (await call(proxy.portal, '/robots.txt')).text()).toContain('Disallow')
      expect((await call(proxy.dashboard, '/admin/v1/attesters')).status).toBe(401)
      expect((await call(proxy.api, '/admin/v1/attesters')).status).toBe(404)
      expect((await call(proxy.portal, '/v2/attestation')).status).not.toBe(200)
    })

    /** Of an answer of the proxy's own or of a node: once each, whoever says it. */
    const said = ({ headers }: Response) => ({
      transport: headers.get('strict-transport-security'),
      sniffing: headers.get('x-content-type-options'),
      referrer: headers.get('referrer-policy'),
      embedding: headers.get('cross-origin-resource-policy'),
      frames: headers.get('content-security-policy')?.match(/frame-ancestors 'none'/g)?.length,
    })
    const expected = {
      transport: STRICT_TRANSPORT_SECURITY,
      sniffing: 'nosniff',
      referrer: 'no-referrer',
      embedding: 'same-origin',
      frames: 1,
    }

    test('its own errors are problems with the headers of every answer', async () => {
      const large = { method: 'POST', headers: JSON_TYPE, body: 'x'.repeat(5_400_000) }
      const strange = { 'x-request-id': '"},{"' }
      const cases = [
        ['NOT_FOUND', 404, await call(proxy.api, '/metrics', { headers: strange })],
        ['PAYLOAD_TOO_LARGE', 413, await call(proxy.api, '/v2/attestation', large)],
        ['PAYLOAD_TOO_LARGE', 413, await call(proxy.api, '/api/v1/verify', large)],
        ['DEPENDENCY_UNAVAILABLE', 503, await call(away.api, '/api/v1/verify', { method: 'POST', body: '{}' })],
        ['DEPENDENCY_UNAVAILABLE', 503, await call(away.api, '/v2/attestation', { method: 'POST', body: '{}' })],
        ['DEPENDENCY_UNAVAILABLE', 503, await call(away.portal, '/')],
        ['DEPENDENCY_UNAVAILABLE', 503, await call(away.dashboard, '/')],
      ] as const
      for (const [code, status, response] of cases) {
        expect({ status: response.status, ...said(response) }).toEqual({ status, ...expected })
        expect(response.headers.get('content-type')).toBe('application/problem+json')
        expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null)
        const body = (await response.json()) as Record<string, unknown>
        expect(body).toMatchObject({ status, code, type: problemType(code) })
        expect(body['request_id']).toMatch(/^[0-9a-f-]{32,36}$/)
        expect([body['message'], body['error']]).toEqual([body['detail'], body['detail']])
      }
    })

    test('a node’s answers have them once', async () => {
      for (const response of [
        await attest(),
        await attest({ 'x-api-key': 'wrong' }),
        await call(proxy.portal, '/'),
        await call(proxy.dashboard, '/'),
      ]) {
        expect(said(response)).toEqual(expected)
      }
    })

    // HAProxy has a text of its own built in for it, which no setting changes.
    test.skipIf(name === 'haproxy')('what is no HTTP is refused with them', async () => {
      const answer = await exchangeTls(proxy.api, 'GET / HTTP/1.1\r\nno header\r\n\r\n')
      expect(answer).toMatch(/^HTTP\/1\.[01] 400 /)
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2) as [string, string]),
      )
      expect(said(new Response('', { headers }))).toEqual(expected)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    })

    test('only TLS 1.2 and later, with forward secrecy', async () => {
      const connectWith = (options: readonly string[]): string => {
        const { host, port } = proxy.api
        const command = ['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-servername', host, ...options]
        const { stdout } = Bun.spawnSync(command, { stdin: Buffer.alloc(0), stdout: 'pipe', stderr: 'ignore' })
        return /Cipher is (\S+)/.exec(stdout.toString())?.[1] ?? 'none'
      }
      expect(connectWith([])).toStartWith('TLS_')
      expect(connectWith(['-tls1_2'])).toMatch(/^ECDHE-ECDSA-(AES|CHACHA20)/)
      for (const weak of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'AES128-GCM-SHA256']) {
        expect({ weak, cipher: connectWith(['-tls1_2', '-cipher', weak]) }).toEqual({ weak, cipher: '(NONE)' })
      }
      expect(connectWith(['-tls1_1', '-cipher', 'ALL@SECLEVEL=0'])).toBe('(NONE)')
    })

    test('a link of the verification page and a query are in no log', async () => {
      await call(proxy.portal, '/v/canary-of-a-link')
      await call(proxy.api, '/nowhere?canary=of-a-query')
      await until(() => proxy.log().includes('/nowhere'))
      expect(proxy.log()).toContain('"/v/-"')
      expect(proxy.log()).not.toContain('canary')
      expect(proxy.log()).not.toContain(value('ATTESTATION_API_KEY'))
    })
  })
}
