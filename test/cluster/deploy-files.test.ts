// The samples of deploy/: programs accept their syntax, services start with their settings, references resolve, and
// their numbers agree with the source and docs/sizing.md. No container runtime or cluster is needed.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CollectionTag, parseAllDocuments, type ScalarTag } from 'yaml'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { planProcesses } from '../../src/config/process-plan.ts'
import { type Setting, variableOf } from '../../src/config/setting.ts'
import { parseRoles } from '../../src/config/setting-values.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { MODULES } from '../../src/modules.ts'
import { freePort } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { configureNginx, NGINX_MISSING } from './balancer.ts'
import { COMPOSE_FILE } from './schemas/compose.ts'
import { KUBERNETES_OBJECTS } from './schemas/kubernetes.ts'
import { mistakesIn } from './schemas/strict-schema.ts'

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

/** Creates a self-signed certificate. */
const createCertificate = (): { certificate: string; key: string; both: string } => {
  const [certificate, key, both] = [join(folder, 'certificate.pem'), join(folder, 'key.pem'), join(folder, 'both.pem')]
  const subject = ['-subj', '/CN=example.com', '-days', '2']
  const outputs = ['-keyout', key, '-out', certificate]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const created = run(need('openssl'), 'req', '-x509', ...curve, '-nodes', ...subject, ...outputs)
  if (created.code !== 0) throw new Error(created.output)
  writeFileSync(both, `${readFileSync(certificate, 'utf8')}${readFileSync(key, 'utf8')}`)
  return { certificate, key, both }
}

describe('proxies', () => {
  testWith(['nginx', 'openssl'], 'nginx accepts its sample with other certificates and addresses', () => {
    const { certificate, key } = createCertificate()
    const path = join(folder, 'nginx.conf')
    const text = read('nginx.conf')
      .replaceAll(/\/etc\/nginx\/tls\/[a-z]+\.pem/g, certificate)
      .replaceAll(/\/etc\/nginx\/tls\/[a-z]+\.key/g, key)
      .replaceAll(/\bnode(\d):/g, '127.0.0.$1:')
      .replaceAll('/tmp/nginx.pid', join(folder, 'pid'))
      .replaceAll('/var/log/nginx/access.log', join(folder, 'access.log'))
      // An ordinary user can write to these folders.
      .replace('http {', `http {\nclient_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;`)
    writeFileSync(path, text)
    const { code, output } = run(need('nginx'), '-t', '-p', folder, '-e', join(folder, 'errors'), '-c', path)
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).not.toContain('[emerg]')
  })

  testWith(['haproxy', 'openssl'], 'HAProxy accepts its sample', () => {
    const { both } = createCertificate()
    const path = join(folder, 'haproxy.cfg')
    const text = read('haproxy.cfg')
      .replaceAll(/\/etc\/haproxy\/tls\/[a-z]+\.pem/g, both)
      .replaceAll(/ node(\d):/g, ' 127.0.0.$1:')
    writeFileSync(path, text)
    const { code, output } = run(need('haproxy'), '-c', '-f', path)
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).not.toContain('WARNING')
  })

  test.skipIf(NGINX_MISSING !== null)('the cluster tests use the sample, except for addresses and TLS', () => {
    const address = { api: '127.0.0.1:1', portal: '127.0.0.1:2', dashboard: '127.0.0.1:3' }
    const ports = { api: freePort(), portal: freePort(), dashboard: freePort() }
    const configured = configureNginx({ nodes: [address], ports, folder, metricsFrom: null })
    const kept = read('nginx.conf').match(/^ *(location|proxy_next_upstream|error_page|map|if|limit_req) .*$/gm) ?? []
    expect(kept.length).toBeGreaterThan(20)
    for (const line of kept) expect(configured).toContain(line)
    expect(configured).not.toMatch(/node\d:|ssl_/)
  })

  test('both samples require TLS 1.2 or higher', () => {
    const [nginx, haproxy] = [read('nginx.conf'), read('haproxy.cfg')]
    expect(nginx).toMatch(/^ {2}ssl_protocols TLSv1\.2 TLSv1\.3;$/m)
    expect(nginx.match(/^\s*listen .*$/gm)?.filter((line) => !/ (ssl|quic)\b/.test(line))).toEqual([])
    expect(haproxy).toMatch(/ssl-default-bind-options .*ssl-min-ver TLSv1\.2/)
    expect(haproxy.match(/^\s*bind .*$/gm)?.filter((line) => !line.includes(' ssl '))).toEqual([])
  })

  test('a POST is retried only if its key or its endpoint makes that safe', () => {
    const locations = read('nginx.conf').match(/^ {4}location [^{]*\{[\s\S]*?^ {4}\}/gm) ?? []
    const again = locations.filter((text) => text.includes('non_idempotent')).map((text) => text.split('{')[0]?.trim())
    expect(again).toEqual(['location = /api/v1/verify', 'location @again'])
    expect(read('nginx.conf').match(/^ {2}proxy_next_upstream .*$/gm)).toEqual(['  proxy_next_upstream error timeout;'])
    const backends = read('haproxy.cfg').split(/^(?=backend )/m)
    const retried = backends.filter((text) => text.includes('\n  retry-on')).map((text) => text.split('\n')[0])
    expect(retried).toEqual(['backend api_again'])
  })
})

describe('containers', () => {
  const container = read('Containerfile')
  const copied = [...container.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, list = '']) =>
    list.split(' ').slice(0, -1),
  )

  test('copied paths exist, and are part of the build context', () => {
    expect(copied).toContain('src')
    const allowed = read('Containerfile.dockerignore').split('\n')
    for (const path of copied) {
      expect({ path, exists: existsSync(join(ROOT, path)) }).toEqual({ path, exists: true })
      expect(allowed).toContain(`!${path}`)
    }
  })

  test('the runtime has the version of package.json', () => {
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const versions = [...container.matchAll(/^FROM oven\/bun:([\d.]+)/gm)].map(([, version]) => `bun@${version}`)
    expect([...new Set(versions)]).toEqual([packageManager])
  })
})

interface Values {
  // biome-ignore lint/suspicious/noExplicitAny: a parsed manifest
  readonly [name: string]: any
}
const inFolder = (name: string): string[] => readdirSync(join(DEPLOY, name)).map((file) => `${name}/${file}`)
const KUBERNETES_FILES = ['kubernetes', 'kubernetes-roles'].flatMap(inFolder)
const FILES = ['compose.yaml', 'compose.roles.yaml', ...KUBERNETES_FILES]
/** Docker Compose tags for values that replace those of another file. */
const OVERRIDE: CollectionTag = { tag: '!override', collection: 'seq' }
const RESET: ScalarTag = { tag: '!reset', resolve: () => null }
const parse = (path: string): Values[] =>
  [...parseAllDocuments(read(path), { merge: true, customTags: [OVERRIDE, RESET] })].map((document) => {
    const problems = [...document.errors, ...document.warnings]
    if (problems.length > 0) throw new Error(`${path}: ${problems.join('; ')}`)
    return document.toJS()
  })

/** @param words of the program: `src/main.ts`, then settings */
const configOf = (words: readonly string[], environment: Record<string, string>): Config => {
  expect(words[0]).toBe('src/main.ts')
  return loadConfig({ arguments: words.slice(1), environment }, MODULES)
}
const planOf = ({ processes, workers }: Config, processors: number) => planProcesses(processors, { processes, workers })

describe('all samples', () => {
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
    const others = ['Containerfile', 'systemd/countersign.service', 'systemd/people.conf', 'README.md']
    const texts = [...FILES, ...others].map(read)
    const named = texts.flatMap((text) => text.match(/COUNTERSIGN_(?!RPC_)[A-Z_]+[A-Z]/g) ?? [])
    expect(named.length).toBeGreaterThan(10)
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
  })

  test('the samples with roles give attester keys only to nodes that attest', () => {
    const [roles = {}] = parse('compose.roles.yaml')
    const { node1, node3 } = roles['services']
    expect(parseRoles(node1.command.at(-1))).toContain('attestation')
    expect(parseRoles(node3.command.at(-1))).not.toContain('attestation')
    expect(node3.environment).toHaveProperty('COUNTERSIGN_PASSPHRASE_FILE', null)
    const people = parse('kubernetes-roles/people.yaml')[0]?.['spec'].template.spec
    const [container] = people.containers
    expect(parseRoles(container.args.at(-1))).not.toContain('attestation')
    const folders = container.volumeMounts.flatMap(({ name, subPath }: { name: string; subPath: string }) =>
      name === 'shared' ? [subPath] : [],
    )
    expect(folders).toEqual(['secrets', 'evidence'])
    const credentials = read('systemd/people.conf').match(/^LoadCredential.*/gm)
    expect(JSON.stringify([node3.secrets, node3.volumes, people.volumes, credentials])).not.toMatch(
      /passphrase|keystores/,
    )
  })

  test('stop timeouts exceed the request deadline, and proxy timeouts exceed those of a node', () => {
    // The supervisor kills a process this long after the deadline of a stop.
    const slackMs = Number(
      /STOP_SLACK_MS = ([\d_]+)/.exec(readFileSync(join(ROOT, 'src/cluster/host.ts'), 'utf8'))?.[1]?.replace('_', ''),
    )
    const stopSeconds = (Number(SETTINGS.deadlineMs.defaultText) + slackMs) / 1_000
    const first = (path: string, pattern: RegExp): number => Number(pattern.exec(read(path))?.[1])
    expect(first('compose.yaml', /stop_grace_period: (\d+)s/)).toBeGreaterThan(stopSeconds)
    expect(first('systemd/countersign.service', /TimeoutStopSec=(\d+)/)).toBeGreaterThan(stopSeconds)
    const delay = first('kubernetes/nodes.yaml', /preStop: \{ sleep: \{ seconds: (\d+) \} \}/)
    expect(first('kubernetes/nodes.yaml', /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(stopSeconds + delay)
    // The node returns 408, not the proxy.
    const deadlineSeconds = Number(SETTINGS.deadlineMs.defaultText) / 1_000
    for (const [path, pattern] of [
      ['nginx.conf', /proxy_read_timeout (\d+)s/],
      ['haproxy.cfg', /timeout server (\d+)s/],
    ] as const) {
      expect(first(path, pattern)).toBeGreaterThan(deadlineSeconds)
    }
  })
})

/** Megabytes in docs/sizing.md, by the start of a row. */
const SIZING = readFileSync(join(ROOT, 'docs', 'sizing.md'), 'utf8')
const megabytes = (row: string): number => {
  const found = SIZING.split('\n').find((line) => line.startsWith(`- ${row}`))
  return Number(/(\d+) MB/.exec(found?.replace(/\d+ to /, '') ?? '')?.[1])
}

/** Memory of a node under full load, with the search index, and a Web3 keystore per worker. */
const neededMb = ({ processes, workers }: { readonly processes: number; readonly workers: number }): number => {
  const further = megabytes(
    workers === 0 ? 'Each additional process, with `--workers 0`' : 'Each additional process, with workers',
  )
  return (
    megabytes('One process under full load, and') +
    (processes - 1) * further +
    (processes > 1 ? megabytes('Supervisor') : 0) +
    megabytes('Search index') +
    megabytes('Opening a Web3 keystore')
  )
}
test('docs/sizing.md lists the memory of each part', () => {
  expect(neededMb({ processes: 2, workers: 1 })).toBe(320 + 180 + 80 + 150 + 256)
})

describe('systemd', () => {
  testWith(['systemd-analyze'], 'systemd accepts the unit, with a low exposure level', () => {
    const unit = join(folder, 'countersign.service')
    writeFileSync(unit, read('systemd/countersign.service').replaceAll('/usr/local/bin/bun', process.execPath))
    const verified = run(need('systemd-analyze'), 'verify', '--man=no', unit)
    expect(verified.output.split('\n').filter((line) => line.includes('countersign'))).toEqual([])
    const exposure = /exposure level for \S+: ([\d.]+)/.exec(
      run(need('systemd-analyze'), 'security', '--offline=true', '--no-pager', unit).output,
    )?.[1]
    expect(Number(exposure)).toBeLessThan(2)
  })

  test('the unit starts a service, and the drop-in removes attester keys', () => {
    const unit = read('systemd/countersign.service')
    const words = /^ExecStart=\/usr\/local\/bin\/bun (.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
    const variables = (text: string): Record<string, string> =>
      Object.fromEntries(
        [...text.matchAll(/^Environment=(COUNTERSIGN_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
      )
    expect(planOf(configOf(words, variables(unit)), 2)).toEqual({ processes: 2, workers: 1 })
    const { COUNTERSIGN_PASSPHRASE_FILE, ...others } = variables(unit)
    expect(COUNTERSIGN_PASSPHRASE_FILE).toBe('%d/passphrase')
    const people = configOf(words, { ...others, ...variables(read('systemd/people.conf')) })
    expect([...people.serve].sort()).toEqual(['dashboard', 'identity', 'portal'])
  })
})

describe('compose', () => {
  const [base = {}] = parse('compose.yaml')
  const [roles = {}] = parse('compose.roles.yaml')
  const withRoles: Values = {
    ...base,
    services: Object.fromEntries(
      Object.entries(base['services'] as Values).map(([name, service]) => {
        const over = roles['services'][name] ?? {}
        const environment = { ...service.environment, ...over.environment }
        for (const [variable, value] of Object.entries(environment)) if (value === null) delete environment[variable]
        return [name, { ...service, ...over, environment }]
      }),
    ),
  }

  test.each([base, roles])('each file has only valid keys and values', (file) => {
    expect(mistakesIn(file, COMPOSE_FILE)).toEqual([])
  })

  test('a misspelled key is reported', () => {
    const { mem_limit, ...others } = base['services'].node1
    const misspelled = { ...base, services: { ...base['services'], node1: { ...others, memory_limit: mem_limit } } }
    expect(mistakesIn(misspelled, COMPOSE_FILE)).toEqual(['/services/node1/memory_limit is not a valid key'])
  })

  const SAMPLES: [string, Values][] = [
    ['alone', base],
    ['with roles', withRoles],
  ]
  test.each(SAMPLES)('%s: each node starts, and has enough memory', (_, { services }) => {
    for (const node of ['node1', 'node2', 'node3']) {
      const { command, environment, mem_limit: limit } = services[node]
      const config = configOf(command, environment)
      expect(Number(/^(\d+)g$/.exec(limit)?.[1]) * 1024).toBeGreaterThan(neededMb(planOf(config, 4)))
    }
  })

  test.each(SAMPLES)(
    '%s: secrets, volumes, networks and dependencies are declared',
    (_, { services, secrets, volumes, networks }) => {
      for (const [name, service] of Object.entries(services as Values)) {
        const mounted: string[] = (service.volumes ?? []).map((volume: string) => volume.split(':')[0])
        const named = {
          secrets: (service.secrets ?? []).filter((secret: string) => secrets[secret] === undefined),
          volumes: mounted.filter((volume) => !volume.startsWith('.') && !(volume in volumes)),
          files: mounted.filter((path) => /^\.\/(?!secrets)/.test(path) && !existsSync(join(DEPLOY, path))),
          networks: [service.networks]
            .flat()
            .flatMap((each) => (typeof each === 'string' ? [each] : Object.keys(each)))
            .filter((network) => !(network in networks)),
          dependencies: Object.keys(service.depends_on ?? {}).filter((other) => services[other] === undefined),
        }
        expect({ name, ...named }).toEqual({
          name,
          secrets: [],
          volumes: [],
          files: [],
          networks: [],
          dependencies: [],
        })
        const variables: Values = service.environment ?? {}
        for (const [variable, path] of Object.entries(variables)) {
          if (variable.endsWith('_FILE')) expect(service.secrets).toContain(String(path).replace('/run/secrets/', ''))
        }
      }
    },
  )
})

describe('Kubernetes', () => {
  const all = KUBERNETES_FILES.flatMap(parse)
  const ofKind = (kind: string) => all.filter((each) => each['kind'] === kind)
  const workloads = [...ofKind('StatefulSet'), ...ofKind('Deployment')]
  const names = (kind: string): string[] => ofKind(kind).map(({ metadata }) => metadata.name)
  const mistakesOf = (object: Values): string[] => {
    const schema = KUBERNETES_OBJECTS.get(object['kind'])
    const mistakes = schema === undefined ? ['the kind has no schema'] : mistakesIn(object, schema)
    return mistakes.map((mistake) => `${object['kind']} ${object['metadata']?.name}: ${mistake}`)
  }

  test('each object has only keys and values of its kind', () => {
    for (const value of all) expect(mistakesOf(value)).toEqual([])
    expect([...KUBERNETES_OBJECTS.keys()].sort()).toEqual([...new Set(all.map(({ kind }) => kind))].sort())
  })

  test('a misspelled key is reported', () => {
    const [deployment = {}] = ofKind('Deployment')
    const { livenessProbe, ...others } = deployment['spec'].template.spec.containers[0]
    const misspelled = structuredClone(deployment)
    misspelled['spec'].template.spec.containers[0] = { ...others, livenesProbe: livenessProbe }
    expect(mistakesOf(misspelled)).toEqual([
      'Deployment countersign-people: /spec/template/spec/containers/0/livenesProbe is not a valid key',
    ])
  })

  test('each workload starts a service, and has enough memory', () => {
    const [{ data } = { data: {} }] = ofKind('ConfigMap')
    for (const { spec } of workloads) {
      const [{ args, resources, envFrom }] = spec.template.spec.containers
      expect(names('ConfigMap')).toContain(envFrom[0].configMapRef.name)
      const plan = planOf(configOf(args, data), Number(resources.limits.cpu))
      expect(Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 1024).toBeGreaterThan(neededMb(plan))
      // Only a cluster would refuse a value of another type.
      expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true)
    }
  })

  test('selectors, ports, volumes and secrets exist', () => {
    const labels = workloads.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/name'])
    for (const { spec } of workloads) {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
      if (spec.serviceName !== undefined) expect(names('Service')).toContain(spec.serviceName)
      const { containers, initContainers = [], volumes } = spec.template.spec
      const known = [...volumes, ...(spec.volumeClaimTemplates ?? []).map(({ metadata }: Values) => metadata)]
      const volumeNames = known.map(({ name }: Values) => name)
      for (const { volumeMounts, ports = [], ...container } of [...containers, ...initContainers]) {
        for (const { name } of volumeMounts) expect(volumeNames).toContain(name)
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          const port = container[probe]?.httpGet.port
          if (port !== undefined) expect(ports.map(({ name }: Values) => name)).toContain(port)
        }
      }
      for (const { persistentVolumeClaim: claim, secret } of volumes) {
        if (claim !== undefined) expect(names('PersistentVolumeClaim')).toContain(claim.claimName)
        if (secret === undefined) continue
        expect(names('Secret')).toContain(secret.secretName)
        for (const { key } of secret.items ?? []) expect(ofKind('Secret')[0]?.['stringData']).toHaveProperty(key)
      }
    }
    const portNames = workloads.flatMap(({ spec }) =>
      spec.template.spec.containers[0].ports.map(({ name }: Values) => name),
    )
    for (const { spec } of ofKind('Service')) {
      expect(labels).toContain(spec.selector['app.kubernetes.io/name'])
      for (const { targetPort } of spec.ports) expect(portNames).toContain(targetPort)
    }
    for (const { spec } of ofKind('PodDisruptionBudget')) {
      expect(labels).toContain(spec.selector.matchLabels['app.kubernetes.io/name'])
    }
    for (const { spec } of ofKind('NetworkPolicy')) {
      expect(spec.podSelector.matchExpressions[0].values).toEqual(labels)
      for (const { ports } of spec.ingress) for (const { port } of ports) expect(portNames).toContain(port)
    }
  })
})
