// Both proxy samples with TLS in front of one running node and two stopped ones: refused connections are retried on the
// next node, streams are not buffered, and internal endpoints are not reachable.
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
/** Ports of the nodes in the order of the samples. Only the second node runs. */
let nodes: { readonly 8080: number; readonly 8081: number; readonly 8082: number }[]
const certificates = join(folder, 'deploy', 'secrets', 'tls')

beforeAll(async () => {
  if (missing('nginx') !== null && missing('haproxy') !== null) return
  // The users of the proxies read the folder.
  chmodSync(folder, 0o755)
  // Certificates are created with the commands of the README.
  const page = readFileSync(join(DEPLOY, 'README.md'), 'utf8')
  const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].find(([, text]) => text?.includes('openssl req'))?.[1]
  const created = Bun.spawnSync(['sh', '-ec', commands ?? 'exit 1'], { cwd: folder })
  if (!created.success) throw new Error(created.stderr.toString())
  const freePorts = () => ({ 8080: freePort(), 8081: freePort(), 8082: freePort() })
  const ports = freePorts()
  service = await startAlone({
    environment: {
      COUNTERSIGN_WORKERS: '1',
      COUNTERSIGN_API_LISTEN: `127.0.0.1:${ports[8080]}`,
      COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${ports[8081]}`,
      COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${ports[8082]}`,
    },
  })
  nodes = [freePorts(), ports, freePorts()]
})
afterAll(async () => {
  await service?.stop()
})

type NodePort = 8080 | 8081 | 8082
type PortOf = (node: number, port: NodePort) => number | undefined

const ofNodes: PortOf = (node, port) => nodes[node - 1]?.[port]
const withAddresses = (text: string, portOf: PortOf): string =>
  text.replaceAll(
    /\bnode([123]):(808[012])\b/g,
    (_match, node: string, port: string) => `127.0.0.1:${portOf(Number(node), Number(port) as NodePort)}`,
  )

interface Address {
  readonly host: string
  readonly port: number
}
interface Proxy {
  readonly api: Address
  readonly portal: Address
  readonly dashboard: Address
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
  // JSON can contain escaped slashes.
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

const request = (
  { host, port }: Address,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Response> =>
  fetch(`https://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { ...init.headers, host },
    tls: { rejectUnauthorized: false },
  })

/** Sends bytes. @returns the response up to `part`, or until the connection closes */
const exchange = ({ host, port }: Address, sent: string, part?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false }, () => {
      socket.write(sent)
    })
    socket.on('data', (chunk: Buffer) => {
      text += String(chunk)
      if (part === undefined || !text.includes(part)) return
      socket.destroy()
      resolve(text)
    })
    socket.on('error', reject)
    socket.on('end', () => (part === undefined ? resolve(text) : reject(new Error(`the stream ended after ${text}`))))
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
      request(proxy.api, '/v2/attestation', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-api-key': value('ATTESTATION_API_KEY'), ...headers },
        body: JSON.stringify({
          from: walletOf('proxied'),
          chain: 'base',
          verification_hash: value('VERIFICATION_HASH'),
        }),
      })
    /** The same proxy in front of stopped nodes. */
    let away: Proxy
    beforeAll(async () => {
      proxy = await start()
      away = await start(`${name}-away`, () => freePort())
    })
    afterAll(async () => {
      await proxy?.stop()
      await away?.stop()
    })

    test('requests succeed although two nodes refuse connections, with and without an idempotency key', async () => {
      for (let count = 0; count < 12; count++) {
        const response = await attest(count % 2 === 0 ? {} : { 'idempotency-key': `${name}-${count}` })
        expect({ count, status: response.status }).toEqual({ count, status: 200 })
        expect(response.headers.get('strict-transport-security')).toStartWith('max-age=')
      }
    })

    test('the request id comes from the caller or the proxy', async () => {
      for (const id of ['of-its-caller', 'a:b/c=[d]#1']) {
        expect((await attest({ 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
      }
      expect((await attest()).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{32,36}$/)
    })

    test('an event stream is not buffered', async () => {
      const { sessionId } = await register(service.url, service.quickstart, walletOf(`stream of ${name}`))
      const path = `/api/v1/status/realtime/individual/${sessionId}`
      const head = `GET ${path} HTTP/1.1\r\nHost: ${proxy.api.host}\r\nAuthorization: Bearer ${value('IDENTITY_API_KEY')}`
      const text = await exchange(proxy.api, `${head}\r\n\r\n`, '"status":"pending"')
      expect(text.toLowerCase()).toContain('content-type: text/event-stream')
      expect(text.toLowerCase()).toContain('x-accel-buffering: no')
    })

    test('each server forwards to its own listener, and health and metrics are not reachable', async () => {
      for (const path of ['/livez', '/readyz', '/metrics']) expect((await request(proxy.api, path)).status).toBe(404)
      expect(await (await request(proxy.portal, '/robots.txt')).text()).toContain('Disallow')
      expect((await request(proxy.dashboard, '/admin/v1/attesters')).status).toBe(401)
      expect((await request(proxy.api, '/admin/v1/attesters')).status).toBe(404)
      expect((await request(proxy.portal, '/v2/attestation')).status).not.toBe(200)
    })

    /** Security headers of a response from the proxy or a node. */
    const securityOf = ({ headers }: Response) => ({
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

    test('errors of the proxy are problem responses with the standard security headers', async () => {
      const large = { method: 'POST', headers: JSON_TYPE, body: 'x'.repeat(5_400_000) }
      const unsafe = { 'x-request-id': '"},{"' }
      const cases = [
        ['NOT_FOUND', 404, await request(proxy.api, '/metrics', { headers: unsafe })],
        ['PAYLOAD_TOO_LARGE', 413, await request(proxy.api, '/v2/attestation', large)],
        ['PAYLOAD_TOO_LARGE', 413, await request(proxy.api, '/api/v1/verify', large)],
        ['DEPENDENCY_UNAVAILABLE', 503, await request(away.api, '/api/v1/verify', { method: 'POST', body: '{}' })],
        ['DEPENDENCY_UNAVAILABLE', 503, await request(away.api, '/v2/attestation', { method: 'POST', body: '{}' })],
        ['DEPENDENCY_UNAVAILABLE', 503, await request(away.portal, '/')],
        ['DEPENDENCY_UNAVAILABLE', 503, await request(away.dashboard, '/')],
      ] as const
      for (const [code, status, response] of cases) {
        expect({ status: response.status, ...securityOf(response) }).toEqual({ status, ...expected })
        expect(response.headers.get('content-type')).toBe('application/problem+json')
        expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null)
        const body = (await response.json()) as Record<string, unknown>
        expect(body).toMatchObject({ status, code, type: problemType(code) })
        expect(body['request_id']).toMatch(/^[0-9a-f-]{32,36}$/)
        expect([body['message'], body['error']]).toEqual([body['detail'], body['detail']])
      }
    })

    test('responses of a node have each security header once', async () => {
      for (const response of [
        await attest(),
        await attest({ 'x-api-key': 'wrong' }),
        await request(proxy.portal, '/'),
        await request(proxy.dashboard, '/'),
      ]) {
        expect(securityOf(response)).toEqual(expected)
      }
    })

    // HAProxy has a built-in text, which no setting changes.
    test.skipIf(name === 'haproxy')('malformed HTTP is refused with a problem and the security headers', async () => {
      const answer = await exchange(proxy.api, 'GET / HTTP/1.1\r\nno header\r\n\r\n')
      expect(answer).toMatch(/^HTTP\/1\.[01] 400 /)
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2) as [string, string]),
      )
      expect(securityOf(new Response('', { headers }))).toEqual(expected)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    })

    test('only TLS 1.2 or higher with forward secrecy is accepted', async () => {
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

    test('the log contains neither links of the verification page nor query strings', async () => {
      await request(proxy.portal, '/v/canary-of-a-link')
      await request(proxy.api, '/nowhere?canary=of-a-query')
      await until(() => proxy.log().includes('/nowhere'))
      expect(proxy.log()).toContain('"/v/-"')
      expect(proxy.log()).not.toContain('canary')
      expect(proxy.log()).not.toContain(value('ATTESTATION_API_KEY'))
    })
  })
}
