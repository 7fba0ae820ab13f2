// Every operation that has a verb, through both doors on twin stores: over the admin API on one, as a command on the other.
// Rows, entries of the audit log (but for who and when), what is refused and with what words are the same.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { COMMAND_ROUTES } from '../../src/admin/route-table.ts'
import { runAccount } from '../../src/cli/account.ts'
import type { AdminClient, Open } from '../../src/cli/admin-client.ts'
import { runAttester } from '../../src/cli/attester.ts'
import { runEvidence } from '../../src/cli/evidence.ts'
import { runLists } from '../../src/cli/lists/lists.ts'
import { runOrg } from '../../src/cli/org.ts'
import type { CommandOutput } from '../../src/cli/output.ts'
import { runPolicy } from '../../src/cli/policy/policy.ts'
import { runSession } from '../../src/cli/session.ts'
import { addressOfKey } from '../../src/domain/address-key.ts'
import { readEntries } from '../../src/facts/lists/write-list.ts'
import { type Harness, startHarness } from '../admin/support/harness.ts'
import { allBindings, allKeys, allPolicies, allRevisions } from '../support/all-rows.ts'
import { openOver } from './admin-client-over.ts'
import { recordOutput } from './recorded-output.ts'
import { openCommandWorld } from './world.ts'

/** Verb → the operation that it changes or reads things by, or why it has none. */
const VERBS: Readonly<Record<string, string | { readonly reads: string } | { readonly exempt: string }>> = {
  'org list': { reads: 'listOrganizations' },
  'org create': 'createOrganization',
  'org level': 'changeOrganization',
  'org minimum-age': 'changeMinimumAge',
  'org trust': 'changeVerificationTrust',
  'org second-factor': 'changeSecondFactorRule',
  'org second-person': 'changeSettings',
  'org brand': 'changeBrand',
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
  'policy list': { reads: 'listPolicies' },
  'policy show': { reads: 'readRevision' },
  'lists list': { reads: 'listLists' },
  'lists create': 'createList',
  'lists show': { reads: 'readList' },
  'lists upload': 'uploadList',
  'lists export': { exempt: 'reads entries of the store, because pages of a million would be slow' },
  'lists add': 'editList',
  'lists remove': 'editList',
  'lists find': { reads: 'findListEntry' },
  'lists source': { exempt: 'setListSourceHere, which the command line alone has' },
  'lists refresh': { exempt: 'asks for it by refreshListSource, then reads here and now' },
  'lists delete': 'removeList',
  'session list': { reads: 'listSessions' },
  'session show': { reads: 'readSession' },
  'session policy': 'changeSessionPolicy',
  'session decide': { exempt: 'decideSession or revokeSession, by the state that the command has read' },
  'evidence show': { exempt: 'readEvidenceFields, over evidence that the harness only stands in for' },
  'evidence save': { exempt: 'openDocument, over evidence that the harness only stands in for' },
  'evidence reads': { exempt: 'prints rows of the store, of which no operation tells' },
  'evidence erase': { exempt: 'eraseEvidence, over evidence that the harness only stands in for' },
  'evidence retention': 'changeRetention',
  'evidence rotate-key': { exempt: 'works on keys of the whole deployment' },
  'attester add': { exempt: 'addAttester, whose keystore needs the passphrase' },
  'attester import': { exempt: 'importAttester, which the command line alone has' },
  'attester list': { reads: 'listAttesters' },
  'attester retire': 'retireAttester',
  'attester rotate-passphrase': { exempt: 'works on files, not on rows' },
  'account recover': 'recoverUser',
}

const COMMANDS = ['org', 'policy', 'lists', 'session', 'evidence', 'attester', 'account']

test('every verb that administers has an operation, or a reason why not', async () => {
  const world = await openCommandWorld()
  try {
    const found = new Set<string>()
    for (const command of COMMANDS) {
      const help = (await world.run(command, '--help')).stdout
      const pattern = new RegExp(`countersign ${command} ([a-z-]+)`, 'g')
      for (const [, verb] of help.matchAll(pattern)) found.add(`${command} ${verb}`)
    }
    expect([...found].sort()).toEqual(Object.keys(VERBS).sort())
  } finally {
    world.remove()
  }
  const operations = new Set(COMMAND_ROUTES.map(({ operationId }) => operationId))
  for (const of of Object.values(VERBS)) if (typeof of === 'string') expect(operations).toContain(of)
})

const api = await startHarness()
const commands = await startHarness()
const { cookie } = await api.person({ email: 'ada@example.org', deploymentAdmin: true })
const done = new Set<string>()
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
afterAll(async () => {
  await api.close()
  await commands.close()
})

const ada = 'ada@example.org'
const never = (): never => {
  throw new Error('not reached')
}
const open = openOver({ store: commands.store, clock: commands.clock }, ada)

type Runs = Readonly<Record<string, (words: string[], output: CommandOutput) => Promise<number>>>
const runsOver = (open: Open): Runs => ({
  org: (words, output) => runOrg(words, { output, open }),
  policy: (words, output) =>
    runPolicy(words, {
      screeners: new Set(),
      output,
      open,
      decisionsDirectory: commands.folder,
      chains: commands.services.chains,
      clock: commands.clock,
      isTerminal: false,
    }),
  lists: (words, output) => runLists(words, { output, open, clock: commands.clock, user: ada }),
  evidence: (words, output) => runEvidence(words, { output, open, user: 'ada', rotateKey: never }),
  session: (words, output) => runSession(words, { output, open, user: 'ada' }),
  attester: (words, output) =>
    runAttester(words, {
      output,
      open,
      folder: { keystores: commands.folder } as never,
      passphrase: never,
      rotatePassphrase: never,
    }),
  account: (words, output) => runAccount(words, { output, open }),
})
const RUNS = runsOver(open)

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

const entriesOf = async ({ lists, listBases: bases }: Harness['store']) => {
  const entries = []
  for (const { id, name } of await lists.listAll()) {
    for await (const { key, ...entry } of readEntries({ lists, bases }, id)) {
      entries.push({ list: name, address: addressOfKey(key), ...entry })
    }
  }
  return entries
}

const rowsOf = async ({ store }: Harness) => {
  const of = await store.organizations.find('demo')
  const id = of?.id ?? ''
  const { items } = await store.audit.page({}, { after: null, limit: 100 })
  return plain({
    organizations: await store.organizations.list(),
    keys: (await allKeys(store, id)).map(({ kind, name, rateLimit, revokedAtSeconds, expiresAtSeconds }) => [
      kind,
      name,
      rateLimit,
      revokedAtSeconds,
      expiresAtSeconds,
    ]),
    policies: await allPolicies(store, id),
    projects: (await store.projects.list(id)).map((project) => ({ ...project, verificationHash: '' })),
    lists: await store.lists.listAll(),
    entries: await entriesOf(store),
    revisions: await Promise.all((await allPolicies(store, id)).map((each) => allRevisions(store, id, each.id))),
    bindings: await Promise.all((await store.projects.list(id)).map((each) => allBindings(store, id, each.id))),
    ages: await store.minimumAges.read(id),
    settings: await store.organizationSettings.read(id),
    webhooks: await store.webhookEndpoints.list(id),
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
  const policy = (await allPolicies(store, id)).at(-1)?.id ?? ''
  const project = (await store.projects.list(id))[0]?.id ?? ''
  return {
    policy,
    project,
    revision: policy === '' ? '' : ((await allRevisions(store, id, policy))[0]?.id ?? ''),
    binding: project === '' ? '' : ((await allBindings(store, id, project))[0]?.id ?? ''),
    key: (await allKeys(store, id))[0]?.keyId ?? '',
    other: (await store.organizations.find('other'))?.id ?? '',
    attester: (await store.attesters.list()).find(({ address }) => address === 'one')?.id ?? '',
    session: (await store.sessions.page({ organizationId: id }, { after: null, limit: 1 })).items[0]?.id ?? '',
    recovered: (await store.users.findByEmail('bea@example.org'))?.id ?? '',
  }
}
type Ids = Awaited<ReturnType<typeof idsOf>>

/** `{policy}` and the like stand for ids, which differ between the stores. */
const fill = (text: string, ids: Ids): string => text.replaceAll(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name])

type Step = readonly [
  /** FILE and LIST are a policy's and a list's files. */
  command: string,
  request: string,
  body?: object,
  /** What the API answers with, and the command's exit code; done unless stated. */
  refused?: readonly [status: number, code: number],
]

const DEMO = '/organizations/demo'
const EVM = '0x1111111111111111111111111111111111111111'
const SOURCE = 'name: P\nrules:\n  - id: all\n    allow: "true"\n'
const STEPS: readonly Step[] = [
  ['org create acme --name Acme', 'POST /organizations', { slug: 'acme', name: 'Acme' }],
  ['org create acme', 'POST /organizations', { slug: 'acme', name: 'acme' }, [409, 1]],
  ['org create Bad_Slug', 'POST /organizations', { slug: 'Bad_Slug', name: 'Bad_Slug' }, [400, 2]],
  ['org level demo enhanced', `PATCH ${DEMO}`, { level: 'enhanced' }],
  ['org level demo high', `PATCH ${DEMO}`, { level: 'high' }, [400, 2]],
  ['org minimum-age demo 21', `PUT ${DEMO}/minimum-age`, { years: 21 }],
  ['org trust demo other', `PUT ${DEMO}/verification-trust`, { trusts: 'listed', organizations: ['{other}'] }],
  // Turning it on locks out whoever has none, which a command can't be.
  ['org second-factor demo off', `PUT ${DEMO}/second-factor-rule`, { required: false }],
  ['org second-person demo off', `PATCH ${DEMO}/settings`, { second_person: false }],
  ['session policy off --org demo', `PUT ${DEMO}/session-policy`, { policy_id: null }],
  ['org brand demo --color #aa3366', `PATCH ${DEMO}/brand`, { color: '#aa3366' }],
  ['policy apply FILE --draft', `POST ${DEMO}/policies`, { source: SOURCE }],
  ['policy apply FILE --policy {policy} --draft', `POST ${DEMO}/policies/{policy}/revisions`, { source: SOURCE }],
  [
    'policy activate {policy} --revision {revision}',
    `POST ${DEMO}/policies/{policy}/activate`,
    { revision_id: '{revision}' },
  ],
  [
    'policy shadow {policy} --revision {revision}',
    `PUT ${DEMO}/policies/{policy}/shadow`,
    { revision_id: '{revision}' },
    [409, 1],
  ],
  ['policy shadow {policy} --off', `PUT ${DEMO}/policies/{policy}/shadow`, { revision_id: null }],
  ['lists create mine', `POST ${DEMO}/lists`, { name: 'mine' }],
  ['lists create mine', `POST ${DEMO}/lists`, { name: 'mine' }, [409, 1]],
  [`lists add deny ${EVM} --memo m`, `POST ${DEMO}/lists/deny/entries`, { add: [{ address: EVM, memo: 'm' }] }],
  [`lists remove deny ${EVM}`, `POST ${DEMO}/lists/deny/entries`, { remove: [EVM] }],
  [`lists add none ${EVM}`, `POST ${DEMO}/lists/none/entries`, { add: [{ address: EVM, memo: '' }] }, [404, 1]],
  ['lists upload mine LIST', `PUT ${DEMO}/lists/mine/content`],
  ['lists delete mine', `DELETE ${DEMO}/lists/mine`],
  ['evidence retention --completed 100', `PATCH ${DEMO}/evidence-retention`, { completed_days: 100 }],
  ['attester retire one', 'POST /attesters/{attester}/retire', { final: false }],
  [
    'account recover bea@example.org --remove-second-factors',
    'POST /users/{recovered}/recovery',
    { remove_second_factors: true },
  ],
]

describe('through both doors', () => {
  for (const [index, [command, request, body, refused]] of STEPS.entries()) {
    const verb = command.split(' ').slice(0, 2).join(' ')
    test(`${index + 1}. ${verb}${refused === undefined ? '' : ', refused'}`, async () => {
      // What is made one after the other is listed in that order.
      for (const { clock } of [api, commands]) clock.advance(1)
      const before = await rowsOf(commands)
      const apiIds = await idsOf(api)
      const [method = '', path = ''] = fill(request, apiIds).split(' ')
      const response = await api.request(method, path, {
        cookie,
        ...(body && { body: JSON.parse(fill(JSON.stringify(body), apiIds)) as unknown }),
        ...(path.endsWith('/content') && { raw: `${EVM}\n`, headers: { 'content-type': 'text/plain' } }),
      })
      const files: Readonly<Record<string, string>> = {
        FILE: `${commands.folder}/policy.yaml`,
        LIST: `${commands.folder}/list.txt`,
      }
      await Bun.write(files['FILE'] ?? '', SOURCE)
      await Bun.write(files['LIST'] ?? '', `${EVM}\n`)
      const [name = '', ...words] = fill(command, await idsOf(commands)).split(' ')
      const { output, printed } = recordOutput()
      const code = await RUNS[name]?.(
        words.map((word) => files[word] ?? word),
        output,
      )
      const [status, exit] = refused ?? [200, 0]
      expect({ status: response.ok ? 200 : response.status, code, stderr: printed.stderr }).toMatchObject({
        status,
        code: exit,
      })
      if (refused !== undefined) {
        const { detail, rule } = (await response.json()) as { detail: string; rule?: string }
        // Keys are named by their ids, which differ.
        const withoutIds = (text: string): string => text.replace(/regenerate \w{12}/, '')
        expect(withoutIds(printed.stderr)).toContain(withoutIds(rule ?? detail))
        expect(await rowsOf(commands)).toEqual(before)
      }
      expect(await rowsOf(commands)).toEqual(await rowsOf(api))
      done.add(verb)
    }, 30_000)
  }

  test('is run with every verb that has an operation', () => {
    const operations = Object.keys(VERBS).filter((verb) => typeof VERBS[verb] === 'string')
    expect([...done].sort()).toEqual(operations.sort())
  })
})

/** Reading verbs as they are called after all steps; the list deny has an address again. */
const READS: Readonly<Record<string, string>> = {
  'org list': 'org list',
  'policy list': 'policy list',
  'policy show': 'policy show {policy}',
  'lists list': 'lists list',
  'lists show': 'lists show deny',
  'lists find': `lists find deny ${EVM}`,
  'session list': 'session list',
  'session show': 'session show {session}',
  'attester list': 'attester list',
}

describe('reads by operations alone', () => {
  const asked = new Set<string>()
  const recorded = (admin: AdminClient): AdminClient => ({
    call: (operation, input) => {
      asked.add(operation)
      return admin.call(operation, input)
    },
    together: (work) => admin.together((inner) => work(recorded(inner))),
    as: (author) => recorded(admin.as(author)),
  })
  const noStore = new Proxy({} as Harness['store'], {
    get: (_, table) => {
      throw new Error(`the command reads ${String(table)} of the store`)
    },
  })
  beforeAll(async () => {
    await RUNS['lists']?.(['add', 'deny', EVM], recordOutput().output)
    await commands.session((await commands.store.organizations.find('demo'))?.id ?? '')
  })
  const runs = runsOver(async () => {
    const { admin } = await open()
    return { store: noStore, admin: recorded(admin), close: async () => undefined }
  })

  for (const [verb, of] of Object.entries(VERBS)) {
    if (typeof of === 'string' || !('reads' in of)) continue
    test(verb, async () => {
      const { output, printed } = recordOutput()
      const ids = await idsOf(commands)
      const [name = '', ...words] = fill(READS[verb] ?? '', ids).split(' ')
      asked.clear()
      const code = await runs[name]?.(words, output)
      expect({ code, stderr: printed.stderr }).toEqual({ code: 0, stderr: '' })
      const operation = COMMAND_ROUTES.find(({ operationId }) => operationId === of.reads)
      expect([...asked]).toContain(`${operation?.method} ${operation?.path}`)
    })
  }
})
