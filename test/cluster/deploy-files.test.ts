// The samples of deploy/ say what the service does: their syntax by the programs that read them, and the numbers, names
// and paths that have to agree with the source.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CollectionTag, type Document, parseAllDocuments, type ScalarTag } from 'yaml'
import { type Setting, variableOf } from '../../src/config/setting.ts'
import { parseRoles } from '../../src/config/setting-values.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { MODULES } from '../../src/modules.ts'
import { freePort } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { configureNginx, NGINX_MISSING } from './balancer.ts'

const ROOT = join(import.meta.dir, '..', '..')
const DEPLOY = join(ROOT, 'deploy')
const folder = newFolder()

const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')
const which = (name: string): string | null => Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })
const run = (...command: string[]): { code: number; output: string } => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  return { code: exitCode, output: `${stdout}${stderr}` }
}
const need = (name: string): string => {
  const found = which(name)
  if (found === null) throw new Error(`${name} is not installed`)
  return found
}
const testWith = (programs: readonly string[], name: string, check: () => void): void => {
  const missing = programs.filter((program) => which(program) === null)
  test.skipIf(missing.length > 0)(missing.length > 0 ? `${name} (not installed: ${missing.join(', ')})` : name, check)
}

/** A certificate of nobody's. */
const makeCertificate = (): { certificate: string; key: string; both: string } => {
  const [certificate, key, both] = [join(folder, 'certificate.pem'), join(folder, 'key.pem'), join(folder, 'both.pem')]
  const subject = ['-subj', '/CN=example.com', '-days', '2']
  const outputs = ['-keyout', key, '-out', certificate]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const made = run(need('openssl'), 'req', '-x509', ...curve, '-nodes', ...subject, ...outputs)
  if (made.code !== 0) throw new Error(made.output)
  writeFileSync(both, `${readFileSync(certificate, 'utf8')}${readFileSync(key, 'utf8')}`)
  return { certificate, key, both }
}

describe('proxies', () => {
  testWith(['nginx', 'openssl'], 'nginx takes its sample, with certificates and addresses in their places', () => {
    const { certificate, key } = makeCertificate()
    const text = read('nginx.conf')
      .replaceAll(/\/etc\/nginx\/tls\/[a-z]+\.pem/g, certificate)
      .replaceAll(/\/etc\/nginx\/tls\/[a-z]+\.key/g, key)
      .replaceAll(/\bnode(\d):/g, '127.0.0.$1:')
      .replaceAll('/tmp/nginx.pid', join(folder, 'pid'))
      .replaceAll('/var/log/nginx/access.log', join(folder, 'access.log'))
      // Where an ordinary user may write.
      .replace('http {', `http {\nclient_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;`)
    writeFileSync(join(folder, 'nginx.conf'), text)
    const { code, output } = run(
      need('nginx'),
      '-t',
      '-p',
      folder,
      '-e',
      join(folder, 'errors'),
      '-c',
      join(folder, 'nginx.conf'),
    )
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).not.toContain('[emerg]')
  })

  testWith(['haproxy', 'openssl'], 'HAProxy takes its sample', () => {
    const { both } = makeCertificate()
    const text = read('haproxy.cfg')
      .replaceAll(/\/etc\/haproxy\/tls\/[a-z]+\.pem/g, both)
      .replaceAll(/ node(\d):/g, ' 127.0.0.$1:')
    writeFileSync(join(folder, 'haproxy.cfg'), text)
    const { code, output } = run(need('haproxy'), '-c', '-f', join(folder, 'haproxy.cfg'))
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).not.toContain('WARNING')
  })

  test.skipIf(NGINX_MISSING !== null)('what the cluster tests run is the sample, but for addresses and TLS', () => {
    const address = { api: '127.0.0.1:1', portal: '127.0.0.1:2', dashboard: '127.0.0.1:3' }
    const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
    const made = configureNginx({ nodes: [address], ports, folder, metricsFrom: null })
    const kept = read('nginx.conf').match(/^ *(location|proxy_next_upstream|error_page|map|if|limit_req) .*$/gm) ?? []
    expect(kept.length).toBeGreaterThan(20)
    for (const line of kept) expect(made).toContain(line)
    expect(made).not.toMatch(/node\d:|ssl_/)
  })

  test('both samples take TLS 1.2 and later, and nothing in the clear', () => {
    const [nginx, haproxy] = [read('nginx.conf'), read('haproxy.cfg')]
    expect(nginx).toMatch(/^ {2}ssl_protocols TLSv1\.2 TLSv1\.3;$/m)
    expect(nginx.match(/^\s*listen .*$/gm)?.filter((line) => !/ (ssl|quic)\b/.test(line))).toEqual([])
    expect(haproxy).toMatch(/ssl-default-bind-options .*ssl-min-ver TLSv1\.2/)
    expect(haproxy.match(/^\s*bind .*$/gm)?.filter((line) => !line.includes(' ssl '))).toEqual([])
  })

  test('a POST is sent twice only where a key or its kind makes that safe', () => {
    const locations = read('nginx.conf').match(/^ {4}location [^{]*\{[\s\S]*?^ {4}\}/gm) ?? []
    const again = locations.filter((text) => text.includes('non_idempotent')).map((text) => text.split('{')[0]?.trim())
    expect(again).toEqual(['location = /api/v1/verify', 'location @again'])
    expect(read('nginx.conf').match(/^ {2}proxy_next_upstream .*$/gm)).toEqual(['  proxy_next_upstream error timeout;'])
    const backends = read('haproxy.cfg').split(/^(?=backend )/m)
    expect(backends.filter((text) => text.includes('\n  retry-on')).map((text) => text.split('\n')[0])).toEqual([
      'backend api_again',
    ])
  })
})

describe('containers', () => {
  const container = read('Containerfile')
  const copied = [...container.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, list]) => {
    const paths = (list ?? '').split(' ')
    return paths.slice(0, -1)
  })

  test('what is copied is there, and is let through to the build', () => {
    expect(copied).toContain('src')
    const allowed = read('Containerfile.dockerignore').split('\n')
    for (const path of copied) {
      expect({ path, exists: existsSync(join(ROOT, path)) }).toEqual({ path, exists: true })
      expect(allowed).toContain(`!${path}`)
    }
  })

  test('the runtime is the one that the project names', () => {
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      packageManager: string
    }
    const versions = [...container.matchAll(/^FROM oven\/bun:([\d.]+)/gm)].map(([, version]) => `bun@${version}`)
    expect([...new Set(versions)]).toEqual([packageManager])
  })
})

describe('manifests', () => {
  const inFolder = (name: string): string[] => readdirSync(join(DEPLOY, name)).map((file) => `${name}/${file}`)
  const files = ['compose.yaml', 'compose.roles.yaml', ...inFolder('kubernetes'), ...inFolder('kubernetes-roles')]
  /** Of Docker Compose: how a value replaces the one of the file before. */
  const customTags: CollectionTag[] = [{ tag: '!override', collection: 'seq' }]
  const withoutValue: ScalarTag = { tag: '!reset', resolve: () => null }
  const documentsOf = (path: string) =>
    parseAllDocuments(read(path), { merge: true, customTags: [...customTags, withoutValue] })

  for (const path of files) {
    test(`${path} is YAML without errors`, () => {
      const documents = documentsOf(path)
      if (!Array.isArray(documents)) throw new Error('no documents')
      expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    })
  }

  test('every setting that a file names exists', () => {
    const settings: readonly Setting<unknown>[] = [
      ...Object.values(SETTINGS),
      ...MODULES.flatMap(({ settings = {} }) => Object.values(settings)),
    ]
    const secrets = settings.filter(({ secret }) => secret === true)
    const known = new Set([
      ...settings.map(({ name }) => variableOf(name)),
      ...secrets.map(({ name }) => `${variableOf(name)}_FILE`),
    ])
    const texts = [...files, 'Containerfile', 'systemd/countersign.service', 'systemd/people.conf', 'README.md'].map(
      read,
    )
    const named = texts.flatMap((text) => text.match(/COUNTERSIGN_(?!RPC_)[A-Z_]+[A-Z]/g) ?? [])
    expect(named.length).toBeGreaterThan(10)
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
  })

  test('the samples with roles keep attester keys from what serves people', () => {
    const parsed = (path: string, at = 0) => (documentsOf(path) as Document[])[at]?.toJS()
    const { node1, node3 } = parsed('compose.roles.yaml').services
    expect(parseRoles(node1.command.at(-1))).toContain('attestation')
    expect(parseRoles(node3.command.at(-1))).not.toContain('attestation')
    expect(node3.environment).toHaveProperty('COUNTERSIGN_PASSPHRASE_FILE', null)
    const people = parsed('kubernetes-roles/people.yaml').spec.template.spec
    const [container] = people.containers
    expect(parseRoles(container.args.at(-1))).not.toContain('attestation')
    const folders = container.volumeMounts.flatMap(({ name, subPath }: { name: string; subPath: string }) =>
      name === 'shared' ? [subPath] : [],
    )
    expect(folders).toEqual(['secrets', 'evidence'])
    const given = [
      node3.secrets,
      node3.volumes,
      people.volumes,
      read('systemd/people.conf').match(/^LoadCredential.*/gm),
    ]
    expect(JSON.stringify(given)).not.toMatch(/passphrase|keystores/)
  })

  test('whoever stops a node waits for its deadline and its closing', () => {
    // src/cluster/host.ts: the supervisor ends a process this long after it was told to stop.
    const slackMs = Number(
      /STOP_SLACK_MS = ([\d_]+)/.exec(readFileSync(join(ROOT, 'src/cluster/host.ts'), 'utf8'))?.[1]?.replace('_', ''),
    )
    const stopSeconds = (Number(SETTINGS.deadlineMs.defaultText) + slackMs) / 1_000
    const first = (path: string, pattern: RegExp): number => Number(pattern.exec(read(path))?.[1])
    expect(first('compose.yaml', /stop_grace_period: (\d+)s/)).toBeGreaterThan(stopSeconds)
    expect(first('systemd/countersign.service', /TimeoutStopSec=(\d+)/)).toBeGreaterThan(stopSeconds)
    const delay = first('kubernetes/nodes.yaml', /preStop: \{ sleep: \{ seconds: (\d+) \} \}/)
    expect(first('kubernetes/nodes.yaml', /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(stopSeconds + delay)
    // Proxies wait longer than a node does, so that it is the node that says 408.
    const deadlineSeconds = Number(SETTINGS.deadlineMs.defaultText) / 1_000
    for (const [path, pattern] of [
      ['nginx.conf', /proxy_read_timeout (\d+)s/],
      ['haproxy.cfg', /timeout server (\d+)s/],
    ] as const) {
      expect(first(path, pattern)).toBeGreaterThan(deadlineSeconds)
    }
  })

  testWith(['systemd-analyze'], 'systemd takes the unit and finds it well locked up', () => {
    const unit = join(folder, 'countersign.service')
    writeFileSync(unit, read('systemd/countersign.service').replaceAll('/usr/local/bin/bun', process.execPath))
    const verified = run(need('systemd-analyze'), 'verify', '--man=no', unit)
    expect(verified.output.split('\n').filter((line) => line.includes('countersign'))).toEqual([])
    const exposure = /exposure level for \S+: ([\d.]+)/.exec(
      run(need('systemd-analyze'), 'security', '--offline=true', '--no-pager', unit).output,
    )?.[1]
    expect(Number(exposure)).toBeLessThan(2)
  })
})
