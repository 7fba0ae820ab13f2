// A running nginx on loopback with the sample configuration deploy/nginx.conf, except for addresses, certificates and
// paths of files.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { startWatchdog } from '../support/watchdog.ts'

const SAMPLE = join(import.meta.dir, '..', '..', 'deploy', 'nginx.conf')

/** `host:port` of the three listeners of a node. */
export interface NodeAddresses {
  readonly api: string
  readonly portal: string
  readonly dashboard: string
}

const findNginx = (): string | null => Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })

/** Reason to skip tests behind a balancer; null if they run. */
export const NGINX_MISSING: string | null = findNginx() === null ? 'nginx is not installed' : null

const serversOf = (kind: keyof NodeAddresses, nodes: readonly NodeAddresses[]): string =>
  nodes
    .map((node, index) => {
      const spare = kind === 'dashboard' && index > 0 ? ' backup' : ''
      return `server ${node[kind]} max_fails=1 fail_timeout=1s${spare};`
    })
    .join('\n')

export interface SampleChanges {
  readonly nodes: readonly NodeAddresses[]
  /** Ports of the three servers. */
  readonly ports: Readonly<Record<keyof NodeAddresses, number>>
  /** Folder of the files of nginx. */
  readonly folder: string
  /** Address whose metrics are public, unlike in the sample; null if no metrics are public. */
  readonly metricsFrom: string | null
}

/** Returns the sample for these nodes, without TLS. */
export const configureNginx = ({ nodes, ports, folder, metricsFrom }: SampleChanges): string => {
  let text = readFileSync(SAMPLE, 'utf8')
  for (const [kind, port] of [
    ['api', 8080],
    ['portal', 8081],
    ['dashboard', 8082],
  ] as const) {
    text = text.replace(new RegExp(`( *server node\\d:${port}[^\\n]*\\n)+`), () => `${serversOf(kind, nodes)}\n`)
    text = text.replace('listen 443 ssl http2;', () => `listen 127.0.0.1:${ports[kind]};`)
  }
  text = text.replaceAll(/^ *(ssl_|server_name|worker_rlimit_nofile|worker_processes|error_log|pid).*$/gm, '')
  if (metricsFrom !== null) {
    text = text.replace(
      /location ~ \^\/\(livez\|readyz\|metrics\)\$ \{\s*return 404;\s*\}/,
      () => `location = /metrics { proxy_pass ${metricsFrom}; }`,
    )
  }
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join('\n')
  text = text
    .replace('http {', () => `http {\n${temporary}`)
    .replace('/var/log/nginx/access.log', () => join(folder, 'access.log'))
  return `daemon off;\nmaster_process off;\npid ${join(folder, 'pid')};\nerror_log ${join(folder, 'error.log')} warn;\n${text}`
}

export interface Balancer {
  /** Base URL of the API. */
  readonly api: string
  readonly portal: string
  readonly dashboard: string
  /** Logged warnings and errors. */
  errors(): string
  stop(): Promise<void>
}

/** Starts nginx in front of these nodes and waits until it listens. */
export const startBalancer = async (
  nodes: readonly NodeAddresses[],
  metricsFrom: string | null = null,
): Promise<Balancer> => {
  const nginx = findNginx()
  if (nginx === null) throw new Error('nginx is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-nginx-'))
  const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
  const configuration = join(folder, 'nginx.conf')
  const errorLog = join(folder, 'error.log')
  writeFileSync(errorLog, '')
  writeFileSync(configuration, configureNginx({ nodes, ports, folder, metricsFrom }))
  const child = Bun.spawn([nginx, '-p', folder, '-e', errorLog, '-c', configuration], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const watchdog = startWatchdog(child.pid, folder)
  const errors = (): string => readFileSync(errorLog, 'utf8')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await child.exited
    await watchdog.dismiss()
    rmSync(folder, { recursive: true, force: true })
  }
  const api = `http://127.0.0.1:${ports.api}`
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended:\n${errors()}`)
      return fetch(`${api}/livez`).then(
        () => true,
        () => false,
      )
    })
  } catch (error) {
    await stop()
    throw error
  }
  const [portal, dashboard] = [`http://127.0.0.1:${ports.portal}`, `http://127.0.0.1:${ports.dashboard}`]
  return { api, portal, dashboard, errors, stop }
}
