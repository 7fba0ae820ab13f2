// Every operation that has a verb, through both doors on twin stores: over the admin API on one, as a command on the other.
// Rows, entries of the audit log (but for who and when), what is refused and with what words are the same.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { COMMAND_ROUTES } from '../../src/admin/route-table.ts'
import type { CommandOutput } from '../../src/cli/output.ts'
import { type Harness, startHarness } from '../admin/support/harness.ts'
import { openOver } from './door-over.ts'
import { openCommandWorld } from './world.ts'

/** Verb → its operation, or why it has none. */
const VERBS: Readonly<Record<string, string | { readonly exempt: string }>> = {
  'org list': { exempt: 'prints rows of the store' },
  'org create': 'createOrganization',
  'org level': 'changeOrganization',
  'org minimum-age': 'changeMinimumAge',
  'org trust': 'changeVerificationTrust',
  'org second-factor': 'changeSecondFactorRule',
  'org second-person': 'changeSettings',
  'org brand': 'changeBrand',
  'keys issue': 'issueKey',
  'keys list': { exempt: 'prints rows of the store' },
  'keys regenerate': 'regenerateKey',
  'keys revoke': 'revokeKey',
  'policy check': { exempt: 'a file alone, on any machine' },
  'policy test': { exempt: 'a file alone, on any machine' },
  'policy templates': { exempt: 'comes with the program' },
  'policy new': { exempt: 'comes with the program' },
  'policy schema': { exempt: 'comes with the program' },
  'policy language-server': { exempt: 'answers an editor about documents, on any machine' },
  'policy diff': { exempt: 'compares files as well' },
  'policy apply': 'saveRevision',
  'policy activate': 'activateRevision',
  'policy shadow': 'shadowRevision',
  'policy replay': { exempt: 'reads the decision log of this machine' },
  'policy simulate': { exempt: 'simulateSessionPolicy, by the text of a revision or file' },
  'policy list': { exempt: 'prints rows of the store' },
  'policy show': { exempt: 'prints rows of the store' },
  'project list': { exempt: 'prints rows of the store' },
  'project create': 'createProject',
  'project set': 'changeProject',
  'project bind': 'bindAddress',
  'project unbind': 'unbindAddress',
  'project bindings': { exempt: 'prints rows of the store' },
  'lists list': { exempt: 'prints rows of the store' },
  'lists create': 'createList',
  'lists show': { exempt: 'prints rows of the store' },
  'lists upload': 'uploadList',
  'lists export': { exempt: 'prints rows of the store' },
  'lists add': 'editList',
  'lists remove': 'editList',
  'lists find': { exempt: 'prints rows of the store' },
  'lists source': { exempt: 'setListSourceHere, which the command line alone has' },
  'lists refresh': { exempt: 'asks for it by refreshListSource, then reads here and now' },
  'lists delete': 'removeList',
  'session list': { exempt: 'prints rows of the store' },
  'session show': { exempt: 'prints rows of the store' },
  'session policy': 'changeSessionPolicy',
  'session decide': { exempt: 'decideSession or revokeSession, by the state that the command has read' },
  'evidence show': { exempt: 'readEvidenceFields, over evidence that the harness only stands in for' },
  'evidence save': { exempt: 'openDocument, over evidence that the harness only stands in for' },
  'evidence reads': { exempt: 'prints rows of the store' },
  'evidence erase': { exempt: 'eraseEvidence, over evidence that the harness only stands in for' },
  'evidence retention': 'changeRetention',
  'evidence rotate-key': { exempt: 'works on keys of the whole deployment' },
  'webhook add': { exempt: 'addWebhookEndpoint, whose secret needs the evidence key' },
  'webhook list': { exempt: 'prints rows of the store' },
  'webhook rotate': { exempt: 'rotateWebhookSecret, whose secret needs the evidence key' },
  'webhook service': { exempt: 'setWebhookService, whose secret needs the evidence key' },
  'webhook remove': { exempt: 'removeWebhookEndpoint, of what webhook add makes' },
  'webhook deliveries': { exempt: 'prints rows of the store' },
  'webhook resend': 'resendDeadWebhookMessages',
  'attester add': { exempt: 'addAttester, whose keystore needs the passphrase' },
  'attester import': { exempt: 'importAttester, which the command line alone has' },
  'attester list': { exempt: 'prints rows of the store' },
  'attester retire': 'retireAttester',
  'attester rotate-passphrase': { exempt: 'works on files, not on rows' },
  'account recover': 'recoverUser',
}

const COMMANDS = ['org', 'keys', 'policy', 'project', 'lists', 'session', 'evidence', 'webhook', 'attester', 'account']

test('every verb that administers has an operation, or a reason why not', async () => {
  const world = await openCommandWorld()
  try {
    const found = new Set<string>()
    for (const command of COMMANDS) {
      const help = (await world.run(command, '--help')).stdout
      const pattern =
        command === 'keys' ? /^ {2}([a-z-]+)(?= |$)/gm : new RegExp(`countersign ${command} ([a-z-]+)`, 'g')
      for (const [, verb] of help.matchAll(pattern)) found.add(`${command} ${verb}`)
    }
    expect([...found].sort()).toEqual(Object.keys(VERBS).sort())
  } finally {
    world.remove()
  }
  const operations = new Set(COMMAND_ROUTES.map(({ operationId }) => operationId))
  for (const of of Object.values(VERBS)) if (typeof of === 'string') expect(operations).toContain(of)
})

let api: Harness
let commands: Harness
let cookie = ''
const done = new Set<string>()

beforeAll(async () => {
  api = await startHarness()
  commands = await startHarness()
  const { id, cookie: own } = await api.person({ email: 'ada@example.org', deploymentAdmin: true })
  cookie = own
  for (const { store, clock } of [api, commands]) {
    await store.users.create({ email: 'bea@example.org', name: 'Bea', deploymentAdmin: false, passwordHash: 'x' })
    for (const slug of ['demo', 'other']) {
      await store.organizations.create({ slug, name: slug })
      clock.advance(1)
    }
    await store.attesters.add({ kind: 'ed25519', address: 'one', keystoreFile: 'one.json' })
    clock.advance(1)
    await store.attesters.add({ kind: 'ed25519', address: 'two', keystoreFile: 'two.json' })
  }
  expect(id).not.toBe('')
})
afterAll(async () => {
  await api.close()
  await commands.close()
})

const RUNS: Readonly<Record<string, (words: string[], output: CommandOutput) => Promise<number>>> = {
  org: async (words, output) => (await import('../../src/cli/org.ts')).runOrg(words, { output, open: open() }),
  keys: async (words, output) =>
    (await import('../../src/cli/keys.ts')).runKeys(words, { ...output, clock: commands.clock, open: open() }),
  policy: async (words, output) =>
    (await import('../../src/cli/policy.ts')).runPolicy(words, {
      screeners: new Set(),
      output,
      open: open(),
      decisionsDirectory: commands.folder,
      chains: commands.services.chains,
      clock: commands.clock,
      isTerminal: false,
    }),
  project: async (words, output) =>
    (await import('../../src/cli/project.ts')).runProject(words, {
      output,
      open: open(),
      chains: commands.services.chains,
    }),
  lists: async (words, output) =>
    (await import('../../src/cli/lists.ts')).runLists(words, {
      output,
      open: open(),
      clock: commands.clock,
      user: 'ada@example.org',
    }),
  evidence: async (words, output) =>
    (await import('../../src/cli/evidence.ts')).runEvidence(words, {
      output,
      open: open(),
      user: 'ada',
      rotateKey: () => Promise.reject(new Error('not reached')),
    }),
  session: async (words, output) =>
    (await import('../../src/cli/session.ts')).runSession(words, { output, open: open(), user: 'ada' }),
  webhook: async (words, output) =>
    (await import('../../src/cli/webhook.ts')).runWebhook(words, { output, open: open() }),
  attester: async (words, output) =>
    (await import('../../src/cli/attester.ts')).runAttester(words, {
      output,
      open: open(),
      folder: { keystores: commands.folder } as never,
      passphrase: () => {
        throw new Error('not reached')
      },
      rotatePassphrase: () => Promise.reject(new Error('not reached')),
    }),
  account: async (words, output) =>
    (await import('../../src/cli/account.ts')).runAccount(words, { output, open: open() }),
}
const open = () => openOver({ store: commands.store, clock: commands.clock }, 'ada@example.org')

/** With ids in the order of their making instead of what they are. */
const plain = (value: unknown): unknown => {
  const names = new Map<string, string>()
  const text = JSON.stringify(value, (_name, each) => (each instanceof Uint8Array ? 'bytes' : each))
  return JSON.parse(
    text.replaceAll(/\b(?:[a-z]+_[0-9A-Za-z]{16,}|x-[0-9a-f]{16,}|[0-9A-Za-z]{12})(?="(?!:))/g, (id) => {
      if (/^[a-z]+$/.test(id)) return id
      if (!names.has(id)) names.set(id, `id ${names.size}`)
      return names.get(id) ?? ''
    }),
  )
}

const rowsOf = async ({ store }: Harness) => {
  const of = await store.organizations.find('demo')
  const id = of?.id ?? ''
  const { items } = await store.audit.page({}, { after: null, limit: 100 })
  return plain({
    organizations: await store.organizations.list(),
    keys: (await store.apiKeys.list(id)).map(({ kind, name, rateLimit, revokedAtSeconds, expiresAtSeconds }) => [
      kind,
      name,
      rateLimit,
      revokedAtSeconds,
      expiresAtSeconds,
    ]),
    policies: await store.policies.list(id),
    projects: (await store.projects.list(id)).map((project) => ({ ...project, verificationHash: '' })),
    lists: await store.lists.listAll(),
    brand: await store.organizationBrands.find(id),
    retention: await store.evidenceRetention.find(id),
    trust: await store.verificationTrust.read(id),
    attesters: await store.attesters.list(),
    audit: items.map(({ organizationId, action, detail }) => ({
      organizationId,
      action,
      detail: Object.fromEntries(Object.entries(detail).filter(([name]) => name !== 'verification_hash')),
    })),
  })
}

/** The newest policy, project and so on of a store. */
const idsOf = async ({ store }: Harness) => {
  const id = (await store.organizations.find('demo'))?.id ?? ''
  const policy = (await store.policies.list(id)).at(-1)?.id ?? ''
  const project = (await store.projects.list(id))[0]?.id ?? ''
  return {
    policy,
    project,
    revision: policy === '' ? '' : ((await store.policies.listRevisions(id, policy))[0]?.id ?? ''),
    binding: project === '' ? '' : ((await store.bindings.list(id, project))[0]?.id ?? ''),
    key: (await store.apiKeys.list(id))[0]?.keyId ?? '',
    other: (await store.organizations.find('other'))?.id ?? '',
    attester: (await store.attesters.list()).find(({ address }) => address === 'one')?.id ?? '',
    recovered: (await store.users.findByEmail('bea@example.org'))?.id ?? '',
  }
}
type Ids = Awaited<ReturnType<typeof idsOf>>

interface Step {
  readonly verb: string
  readonly words: (ids: Ids) => readonly string[]
  readonly request: (ids: Ids) => readonly [method: string, path: string, body?: unknown]
  /** Of a file. */
  readonly raw?: string
  /** What the API answers with, and the command's exit code; done unless stated. */
  readonly refused?: readonly [status: number, code: number]
}

const DEMO = '/organizations/demo'
const EVM = '0x1111111111111111111111111111111111111111'
const SOURCE = 'name: P\nrules:\n  - id: all\n    allow: "true"\n'
const STEPS: readonly Step[] = [
  {
    verb: 'org create',
    words: () => ['acme', '--name', 'Acme'],
    request: () => ['POST', '/organizations', { slug: 'acme', name: 'Acme' }],
  },
  {
    verb: 'org create',
    words: () => ['acme'],
    request: () => ['POST', '/organizations', { slug: 'acme', name: 'acme' }],
    refused: [409, 1],
  },
  {
    verb: 'org create',
    words: () => ['Bad Slug'],
    request: () => ['POST', '/organizations', { slug: 'Bad Slug', name: 'Bad Slug' }],
    refused: [400, 2],
  },
  { verb: 'org level', words: () => ['demo', 'enhanced'], request: () => ['PATCH', DEMO, { level: 'enhanced' }] },
  {
    verb: 'org level',
    words: () => ['demo', 'high'],
    request: () => ['PATCH', DEMO, { level: 'high' }],
    refused: [400, 2],
  },
  {
    verb: 'org minimum-age',
    words: () => ['demo', '21'],
    request: () => ['PUT', `${DEMO}/minimum-age`, { years: 21 }],
  },
  {
    verb: 'org trust',
    words: () => ['demo', 'other'],
    request: ({ other }) => ['PUT', `${DEMO}/verification-trust`, { trusts: 'listed', organizations: [other] }],
  },
  {
    // Turning it on locks out whoever has none, which a command can't be.
    verb: 'org second-factor',
    words: () => ['demo', 'off'],
    request: () => ['PUT', `${DEMO}/second-factor-rule`, { required: false }],
  },
  {
    verb: 'org second-person',
    words: () => ['demo', 'off'],
    request: () => ['PATCH', `${DEMO}/settings`, { second_person: false }],
  },
  {
    verb: 'session policy',
    words: () => ['off', '--org', 'demo'],
    request: () => ['PUT', `${DEMO}/session-policy`, { policy_id: null }],
  },
  {
    verb: 'org brand',
    words: () => ['demo', '--color', '#aa3366'],
    request: () => ['PATCH', `${DEMO}/brand`, { color: '#aa3366' }],
  },
  {
    verb: 'keys issue',
    words: () => ['--org', 'demo', '--kind', 'attestation', '--name', 'x'],
    request: () => ['POST', `${DEMO}/keys`, { kind: 'attestation', name: 'x' }],
  },
  {
    verb: 'keys issue',
    words: () => ['--org', 'demo', '--kind', 'master', '--name', 'x'],
    request: () => ['POST', `${DEMO}/keys`, { kind: 'master', name: 'x' }],
    refused: [400, 2],
  },
  {
    verb: 'keys regenerate',
    words: ({ key }) => [key],
    request: ({ key }) => ['POST', `${DEMO}/keys/${key}/regenerate`, {}],
  },
  {
    verb: 'keys regenerate',
    words: ({ key }) => [key],
    request: ({ key }) => ['POST', `${DEMO}/keys/${key}/regenerate`, {}],
    refused: [409, 1],
  },
  { verb: 'keys revoke', words: ({ key }) => [key], request: ({ key }) => ['POST', `${DEMO}/keys/${key}/revoke`, {}] },
  {
    verb: 'policy apply',
    words: () => ['FILE', '--draft'],
    request: () => ['POST', `${DEMO}/policies`, { source: SOURCE }],
  },
  {
    verb: 'policy apply',
    words: ({ policy }) => ['FILE', '--policy', policy, '--draft'],
    request: ({ policy }) => ['POST', `${DEMO}/policies/${policy}/revisions`, { source: SOURCE }],
  },
  {
    verb: 'policy activate',
    words: ({ policy, revision }) => [policy, '--revision', revision],
    request: ({ policy, revision }) => ['POST', `${DEMO}/policies/${policy}/activate`, { revision_id: revision }],
  },
  {
    verb: 'policy shadow',
    words: ({ policy, revision }) => [policy, '--revision', revision],
    request: ({ policy, revision }) => ['PUT', `${DEMO}/policies/${policy}/shadow`, { revision_id: revision }],
    refused: [409, 1],
  },
  {
    verb: 'policy shadow',
    words: ({ policy }) => [policy, '--off'],
    request: ({ policy }) => ['PUT', `${DEMO}/policies/${policy}/shadow`, { revision_id: null }],
  },
  {
    verb: 'project create',
    words: ({ policy }) => ['--name', 'Shop', '--policy', policy],
    request: ({ policy }) => ['POST', `${DEMO}/projects`, { name: 'Shop', policy_id: policy }],
  },
  {
    verb: 'project create',
    words: () => ['--name', 'Shop', '--policy', 'none'],
    request: () => ['POST', `${DEMO}/projects`, { name: 'Shop', policy_id: 'none' }],
    refused: [404, 1],
  },
  {
    verb: 'project set',
    words: ({ project }) => [project, '--lifetime', '60'],
    request: ({ project }) => ['PATCH', `${DEMO}/projects/${project}`, { lifetime_seconds: 60 }],
  },
  {
    verb: 'project set',
    words: ({ project }) => [project, '--lifetime', '5'],
    request: ({ project }) => ['PATCH', `${DEMO}/projects/${project}`, { lifetime_seconds: 5 }],
    refused: [400, 2],
  },
  {
    verb: 'project bind',
    words: ({ project }) => [project, '--chain', 'base', '--address', EVM],
    request: ({ project }) => ['POST', `${DEMO}/bindings`, { project_id: project, chain: 'base', address: EVM }],
  },
  {
    verb: 'project bind',
    words: ({ project }) => [project, '--chain', 'solana', '--address', EVM],
    request: ({ project }) => ['POST', `${DEMO}/bindings`, { project_id: project, chain: 'solana', address: EVM }],
    refused: [400, 2],
  },
  {
    verb: 'project unbind',
    words: ({ project }) => [project, '--chain', 'base', '--address', EVM],
    request: ({ binding }) => ['DELETE', `${DEMO}/bindings/${binding}`],
  },
  { verb: 'lists create', words: () => ['mine'], request: () => ['POST', `${DEMO}/lists`, { name: 'mine' }] },
  {
    verb: 'lists create',
    words: () => ['mine'],
    request: () => ['POST', `${DEMO}/lists`, { name: 'mine' }],
    refused: [409, 1],
  },
  {
    verb: 'lists add',
    words: () => ['deny', EVM, '--memo', 'm'],
    request: () => ['POST', `${DEMO}/lists/deny/entries`, { add: [{ address: EVM, memo: 'm' }] }],
  },
  {
    verb: 'lists remove',
    words: () => ['deny', EVM],
    request: () => ['POST', `${DEMO}/lists/deny/entries`, { remove: [EVM] }],
  },
  {
    verb: 'lists add',
    words: () => ['none', EVM],
    request: () => ['POST', `${DEMO}/lists/none/entries`, { add: [{ address: EVM, memo: '' }] }],
    refused: [404, 1],
  },
  {
    verb: 'lists upload',
    words: () => ['mine', 'LIST'],
    request: () => ['PUT', `${DEMO}/lists/mine/content`],
    raw: `${EVM}\n`,
  },
  { verb: 'lists delete', words: () => ['mine'], request: () => ['DELETE', `${DEMO}/lists/mine`] },
  {
    verb: 'evidence retention',
    words: () => ['--completed', '100'],
    request: () => ['PATCH', `${DEMO}/evidence-retention`, { completed_days: 100 }],
  },
  {
    verb: 'webhook resend',
    words: () => ['--dead'],
    request: () => ['POST', `${DEMO}/webhook-messages/resend-dead`, {}],
  },
  {
    verb: 'attester retire',
    words: () => ['one'],
    request: ({ attester }) => ['POST', `/attesters/${attester}/retire`, { final: false }],
  },
  {
    verb: 'account recover',
    words: () => ['bea@example.org', '--remove-second-factors'],
    request: ({ recovered }) => ['POST', `/users/${recovered}/recovery`, { remove_second_factors: true }],
  },
]

describe('through both doors', () => {
  for (const [index, step] of STEPS.entries()) {
    test(`${index + 1}. ${step.verb}${step.refused === undefined ? '' : ', refused'}`, async () => {
      // What is made one after the other is listed in that order.
      for (const { clock } of [api, commands]) clock.advance(1)
      const before = await rowsOf(commands)
      const [method, path, body] = step.request(await idsOf(api))
      const response = await api.request(method, path, {
        cookie,
        ...(body === undefined ? {} : { body }),
        ...(step.raw === undefined ? {} : { raw: step.raw, headers: { 'content-type': 'text/plain' } }),
      })
      let stderr = ''
      const output = {
        stdout: () => undefined,
        stderr: (text: string) => {
          stderr += text
        },
      }
      const [command = '', verb = ''] = step.verb.split(' ')
      const files: Readonly<Record<string, string>> = {
        FILE: `${commands.folder}/policy.yaml`,
        LIST: `${commands.folder}/list.txt`,
      }
      await Bun.write(files['FILE'] ?? '', SOURCE)
      await Bun.write(files['LIST'] ?? '', `${EVM}\n`)
      const words = step.words(await idsOf(commands)).map((word) => files[word] ?? word)
      const code = await RUNS[command]?.([verb, ...words], output)
      const status = response.status < 300 ? 'done' : response.status
      expect({ status, code, stderr }).toMatchObject(
        step.refused === undefined ? { status: 'done', code: 0 } : { status: step.refused[0], code: step.refused[1] },
      )
      if (step.refused !== undefined) {
        const { detail, rule } = (await response.json()) as { detail: string; rule?: string }
        // Keys are named by their ids, which differ.
        expect(stderr.replace(/regenerate \w{12}/, '')).toContain((rule ?? detail).replace(/regenerate \w{12}/, ''))
        expect(await rowsOf(commands)).toEqual(before)
      }
      expect(await rowsOf(commands)).toEqual(await rowsOf(api))
      done.add(step.verb)
    }, 30_000)
  }

  test('is run with every verb that has an operation', () => {
    const operations = Object.keys(VERBS).filter((verb) => typeof VERBS[verb] === 'string')
    expect([...done].sort()).toEqual(operations.sort())
  })
})
