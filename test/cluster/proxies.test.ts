// Both proxy samples with their TLS before one node that is there and two that are not: what is refused goes on to the next,
// streams come as they are sent, and what is not for outside stays inside.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { freePort, type RunningService, startAlone } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { startWatchdog } from '../support/watchdog.ts'
import { JSON_TYPE, register, walletOf } from './caller.ts'

const DEPLOY = join(import.meta.dir, '..', '..', 'deploy')
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`
const folder = mkdtempSync(join(tmpdir(), 'countersign-proxies-'))
setDefaultTimeout(60_000)

const missing = (name: string): string | null =>
  [name, 'openssl'].filter((program) => Bun.which(program, { PATH }) === null).join(', ') || null

let service: RunningService
/** Of one node that runs, and of two places where nobody listens, in the order of the samples. */
let nodes: { readonly 8080: number; readonly 8081: number; readonly 8082: number }[]
const certificate = join(folder, 'certificate.pem')

beforeAll(async () => {
  if (missing('nginx') !== null && missing('haproxy') !== null) return
  // The proxies' own users read it.
  chmodSync(folder, 0o755)
  const output = ['-keyout', join(folder, 'key.pem'), '-out', certificate]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  Bun.spawnSync(['openssl', 'req', '-x509', ...curve, '-subj', '/CN=localhost', '-days', '2', ...output])
  writeFileSync(certificate, readFileSync(certificate, 'utf8') + readFileSync(join(folder, 'key.pem'), 'utf8'))
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
  rmSync(folder, { recursive: true, force: true })
})

const withAddresses = (text: string): string =>
  text.replaceAll(/\bnode([123]):(808[012])\b/g, (_match, node: string, port: '8080' | '8081' | '8082') => {
    const at = nodes[Number(node) - 1]
    return `127.0.0.1:${at?.[port]}`
  })

interface Proxy {
  /** Host and port of the three servers, TLS. */
  readonly api: { readonly host: string; readonly port: number }
  readonly portal: { readonly host: string; readonly port: number }
  readonly dashboard: { readonly host: string; readonly port: number }
  readonly log: () => string
  stop(): Promise<void>
}

const run = async (name: string, options: readonly string[], ports: Omit<Proxy, 'log' | 'stop'>): Promise<Proxy> => {
  const output = join(folder, `${name}.log`)
  const child = Bun.spawn([Bun.which(name, { PATH }) ?? name, ...options], {
    ...{ stdin: 'ignore', stdout: Bun.file(output), stderr: Bun.file(`${output}.errors`) },
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

const startNginx = (): Promise<Proxy> => {
  const port = freePort()
  const access = join(folder, 'nginx.access')
  writeFileSync(access, '')
  const text = withAddresses(readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8'))
    .replaceAll(/\/etc\/nginx\/tls\/[a-z]+\.(pem|key)/g, certificate)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('/var/log/nginx/access.log json buffer=64k flush=1s', `${access} json`)
    .replace('/tmp/nginx.pid', join(folder, 'nginx.pid'))
    .replace(/^worker_rlimit_nofile.*$/m, '')
    .replace('worker_processes auto', 'daemon off;\nmaster_process off;\nworker_processes 1')
    .replace('http {', `http {\nclient_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;`)
  const path = join(folder, 'nginx.conf')
  writeFileSync(path, text)
  const at = (host: string) => ({ host, port })
  return run('nginx', ['-p', folder, '-e', join(folder, 'nginx.errors'), '-c', path], {
    ...{ api: at('api.example.com'), portal: at('verify.example.com'), dashboard: at('admin.example.com') },
  }).then((proxy) => ({ ...proxy, log: () => readFileSync(access, 'utf8') }))
}

const startHaproxy = (): Promise<Proxy> => {
  const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
  const text = withAddresses(readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8'))
    .replaceAll(/\/etc\/haproxy\/tls\/[a-z]+\.pem/g, certificate)
    .replace('bind :443 ', `bind 127.0.0.1:${ports.api} `)
    .replace('bind :8443 ', `bind 127.0.0.1:${ports.portal} `)
    .replace('bind :9443 ', `bind 127.0.0.1:${ports.dashboard} `)
    .replace('  maxconn 65536', '  maxconn 1000')
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, text)
  const at = (port: number) => ({ host: 'localhost', port })
  return run('haproxy', ['-db', '-f', path], {
    ...{ api: at(ports.api), portal: at(ports.portal), dashboard: at(ports.dashboard) },
  })
}

const call = (
  { host, port }: Proxy['api'],
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Response> =>
  fetch(`https://127.0.0.1:${port}${path}`, {
    ...{ ...init, headers: { ...init.headers, host }, tls: { rejectUnauthorized: false } },
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
    beforeAll(async () => {
      proxy = await start()
    })
    afterAll(() => proxy?.stop())

    test('two nodes that refuse connections are not noticed, with a key and without', async () => {
      for (let count = 0; count < 12; count++) {
        const response = await attest(count % 2 === 0 ? {} : { 'idempotency-key': `${name}-${count}` })
        expect({ count, status: response.status }).toEqual({ count, status: 200 })
        expect(response.headers.get('strict-transport-security')).toStartWith('max-age=')
      }
    })

    test('a request’s id is the caller’s, or one of the proxy’s', async () => {
      expect((await attest({ 'x-request-id': 'of-its-caller' })).headers.get('x-request-id')).toBe('of-its-caller')
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
