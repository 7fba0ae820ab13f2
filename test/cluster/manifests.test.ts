// The samples for systemd, compose and Kubernetes: their settings are those of a service that starts, their names lead
// somewhere, and their memory is that of docs/sizing.md. No container runtime or cluster is needed.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CollectionTag, parseAllDocuments, type ScalarTag } from 'yaml'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { planProcesses } from '../../src/config/process-plan.ts'
import { MODULES } from '../../src/modules.ts'
import { COMPOSE_FILE } from './schemas/compose.ts'
import { KUBERNETES_OBJECTS } from './schemas/kubernetes.ts'
import { mistakesIn } from './schemas/strict-schema.ts'

const ROOT = join(import.meta.dir, '..', '..')
const DEPLOY = join(ROOT, 'deploy')
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')

/** Of Docker Compose: how a value replaces the one of the file before. */
const OVERRIDE: CollectionTag = { tag: '!override', collection: 'seq' }
const RESET: ScalarTag = { tag: '!reset', resolve: () => null }

interface Values {
  // biome-ignore lint/suspicious/noExplicitAny: a parsed manifest
  readonly [name: string]: any
}
const parse = (path: string): Values[] =>
  [...parseAllDocuments(read(path), { merge: true, customTags: [OVERRIDE, RESET] })].map((document) => document.toJS())

/** @param words of the program: `src/main.ts`, then settings */
const configOf = (words: readonly string[], environment: Record<string, string>): Config => {
  expect(words[0]).toBe('src/main.ts')
  return loadConfig({ arguments: words.slice(1), environment }, MODULES)
}

/** MB of docs/sizing.md, by the start of a row. */
const SIZING = readFileSync(join(ROOT, 'docs', 'sizing.md'), 'utf8')
const megabytes = (row: string): number => {
  const found = SIZING.split('\n').find((line) => line.startsWith(`- ${row}`))
  return Number(/(\d+) MB/.exec(found?.replace(/\d+ to /, '') ?? '')?.[1])
}

/** Memory of a node under full load, with the search index, and a Web3 keystore opened per worker. */
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
const planOf = ({ processes, workers }: Config, processors: number) => planProcesses(processors, { processes, workers })

test('the documentation has the memory of each part', () => {
  expect(neededMb({ processes: 2, workers: 1 })).toBe(320 + 180 + 80 + 150 + 256)
})

test('the systemd unit starts a service, and the drop-in keeps attester keys away', () => {
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

  test('a misspelled key is found', () => {
    const { mem_limit, ...others } = base['services'].node1
    const misspelled = { ...base, services: { ...base['services'], node1: { ...others, memory_limit: mem_limit } } }
    expect(mistakesIn(misspelled, COMPOSE_FILE)).toEqual(['/services/node1/memory_limit is not a valid key'])
  })

  test.each([
    ['alone', base],
    ['with roles', withRoles],
  ])('%s: each node starts, and has the memory that it needs', (_, { services }) => {
    for (const node of ['node1', 'node2', 'node3']) {
      const { command, environment, mem_limit: limit } = services[node]
      const config = configOf(command, environment)
      expect(Number(/^(\d+)g$/.exec(limit)?.[1]) * 1024).toBeGreaterThan(neededMb(planOf(config, 4)))
    }
  })

  test.each([
    ['alone', base],
    ['with roles', withRoles],
  ])('%s: secrets, volumes, networks and dependencies are declared', (_, { services, secrets, volumes, networks }) => {
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
      expect({ name, ...named }).toEqual({ name, secrets: [], volumes: [], files: [], networks: [], dependencies: [] })
      const variables: Values = service.environment ?? {}
      for (const [variable, path] of Object.entries(variables)) {
        if (variable.endsWith('_FILE')) expect(service.secrets).toContain(String(path).replace('/run/secrets/', ''))
      }
    }
  })
})

describe('Kubernetes', () => {
  const all = ['kubernetes', 'kubernetes-roles'].flatMap((folder) =>
    readdirSync(join(DEPLOY, folder)).flatMap((file) => parse(`${folder}/${file}`)),
  )
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

  test('a misspelled key is found', () => {
    const [deployment = {}] = ofKind('Deployment')
    const { livenessProbe, ...others } = deployment['spec'].template.spec.containers[0]
    const misspelled = structuredClone(deployment)
    misspelled['spec'].template.spec.containers[0] = { ...others, livenesProbe: livenessProbe }
    expect(mistakesOf(misspelled)).toEqual([
      'Deployment countersign-people: /spec/template/spec/containers/0/livenesProbe is not a valid key',
    ])
  })

  test('each workload starts a service, and has the memory that it needs', () => {
    const [{ data } = { data: {} }] = ofKind('ConfigMap')
    for (const { spec } of workloads) {
      const [{ args, resources, envFrom }] = spec.template.spec.containers
      expect(names('ConfigMap')).toContain(envFrom[0].configMapRef.name)
      const plan = planOf(configOf(args, data), Number(resources.limits.cpu))
      expect(Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 1024).toBeGreaterThan(neededMb(plan))
      // A setting without a value, or with one of another kind, is a mistake of the ConfigMap only in a cluster.
      expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true)
    }
  })

  test('selectors, ports, volumes and secrets lead somewhere', () => {
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
