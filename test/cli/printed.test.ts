// What every verb that administers prints, and how it ends: frozen, so that what scripts read stays as it is. A change that
// is meant belongs in the changelog; `bun test -u test/cli/printed.test.ts` then writes it down.
import { afterAll, describe, expect, test } from 'bun:test'
import { newSessionId } from '../../src/domain/identifier.ts'
import { openCommandWorld } from './world.ts'

const world = await openCommandWorld()
let transcript = ''
afterAll(() => world.remove())

/**
 * Runs a command and writes down what a terminal would show: stdout as it is, lines of stderr after `! `, and how it ended
 * where that is not 0. Answers what it wrote to stdout.
 */
const say = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await world.run(...words)
  // Help is long and has its own test; which line it follows is what matters here.
  const usage = stderr.indexOf('Usage: ')
  const errors = world.named(usage < 0 ? stderr : stderr.slice(0, usage)).replaceAll(/^(?=.)/gm, '! ')
  const end = code === 0 && usage < 0 ? '' : `exit ${code}${usage < 0 ? '' : ', with usage'}\n`
  transcript += `${world.named(`$ countersign ${words.join(' ')}\n${stdout}`)}${errors}${end}\n`
  return stdout
}

/** As text, and as JSON where the verb changes nothing. */
const both = async (...words: string[]): Promise<void> => {
  await say(...words)
  await say(...words, '--json')
}

const parse = <Value>(text: string): Value => JSON.parse(text) as Value

/** Snapshots are of one test each; what a group makes stays for the next. */
const frozen = (name: string, work: () => Promise<void>): void => {
  test(name, async () => {
    transcript = ''
    await work()
    expect(`\n${transcript}`).toMatchSnapshot()
  }, 60_000)
}

const EVM = '0x1111111111111111111111111111111111111111'
const OTHER = '0x2222222222222222222222222222222222222222'
const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'
const DOCUMENT = `name: Adults
rules:
  - id: small
    require: chain.name != "bsc"
    code: DENIED
    message: Not today
  - id: all
    allow: 'true'
`
const LISTED = 'name: Listed\nrules:\n  - id: bad\n    deny: in_list(wallet.address, "deny")\n'
const SCREENED = 'name: Screened\nrules:\n  - id: bad\n    deny: screener("nobody").flagged\n'

describe('what verbs print', () => {
  frozen('org', async () => {
    await say('org', 'create', 'demo', '--name', 'Demo')
    await say('org', 'create', 'acme', '--name', 'Acme Inc.', '--level', 'standard', '--json')
    await say('org', 'create', 'acme')
    await say('org', 'create', 'Bad_Slug')
    await say('org', 'create', 'ok', '--name', 'x'.repeat(101))
    await say('org', 'create')
    await say('org', 'create', 'x', '--level', 'high')
    await both('org', 'list')
    await say('org', 'level', 'acme', 'enhanced')
    await say('org', 'level', 'acme', 'enhanced', '--json')
    await say('org', 'minimum-age', 'acme', '18')
    await say('org', 'minimum-age', 'acme', '21', '--level', 'enhanced', '--json')
    await say('org', 'minimum-age', 'acme', 'none')
    await say('org', 'minimum-age', 'acme')
    await say('org', 'minimum-age', 'acme', 'old')
    await say('org', 'minimum-age', 'acme', '21', '--level', 'high')
    await say('org', 'level', 'nobody', 'basic')
    await say('org', 'level', 'demo')
    await say('org', 'level', 'demo', '__proto__')
    await both('org', 'trust', 'demo')
    await say('org', 'trust', 'demo', 'acme')
    await say('org', 'trust', 'demo', 'none', '--json')
    await say('org', 'trust', 'demo', 'all')
    await say('org', 'trust', 'demo', 'demo')
    await say('org', 'trust', 'demo', 'nobody')
    await say('org', 'trust', 'nobody', 'all')
    await say('org', 'trust', 'demo', 'all', 'none')
    await say('org', 'trust')
    await both('org', 'second-person', 'demo')
    await both('org', 'second-person')
    await say('org', 'second-person', 'demo', 'off')
    await say('org', 'second-person', 'demo', 'on')
    await say('org', 'second-person', 'nobody', 'off')
    await say('org', 'second-person', 'demo', 'perhaps')
    await say('org', 'brand', 'demo', '--color', '#AA3366')
    const logo = world.file('logo.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
    await say('org', 'brand', 'demo', '--logo', logo, '--color', 'none', '--json')
    await say('org', 'brand', 'demo', '--logo', world.file('text.png', 'no picture'))
    await say('org', 'brand', 'demo', '--color', 'red')
    await say('org', 'brand', 'demo')
    await say('org', 'brand', 'nobody', '--color', '#000000')
    await say('org', 'brand')
    await say('org')
  })

  frozen('policy', async () => {
    const file = world.file('policy.yaml', DOCUMENT)
    const policy = parse<{ policy: string; revision: string }>(await say('policy', 'apply', file, '--json'))
    await say(
      'policy',
      'apply',
      world.file('next.yaml', DOCUMENT.replace('Adults', 'Adults 2')),
      '--policy',
      policy.policy,
    )
    await say('policy', 'apply', file, '--policy', policy.policy, '--draft')
    await say('policy', 'apply', file, '--policy', policy.policy, '--draft', '--json')
    await say('policy', 'apply', file, '--policy', 'policy_nobody')
    await say('policy', 'apply', world.file('screened.yaml', SCREENED))
    await say('policy', 'apply', world.file('listed.yaml', LISTED))
    await say('policy', 'apply', world.file('wrong.yaml', 'name: x\nrules: 3\n'))
    await say('policy', 'apply', world.file('wrong.yaml', 'name: x\nrules: 3\n'), '--json')
    await say('policy', 'apply', '/nowhere/none.yaml')
    await say('policy', 'apply')
    await say('policy', 'apply', file, '--org', 'nobody')
    await both('policy', 'list')
    await both('policy', 'show', policy.policy, '--revisions')
    await both('policy', 'show', policy.policy)
    await say('policy', 'show', policy.policy, '--revision', '9')
    await say('policy', 'show', 'policy_nobody')
    await say('policy', 'activate', policy.policy, '--revision', '1')
    await say('policy', 'activate', policy.policy, '--revision', policy.revision, '--json')
    await say('policy', 'activate', policy.policy, '--revision', '9')
    await say('policy', 'activate', policy.policy)
    await say('policy', 'activate', 'policy_nobody', '--revision', '1')
    await say('policy', 'shadow', policy.policy, '--revision', '2')
    await say('policy', 'shadow', policy.policy, '--revision', '3', '--json')
    await say('policy', 'shadow', policy.policy, '--revision', '1')
    await say('policy', 'shadow', policy.policy, '--off')
    await say('policy', 'shadow', policy.policy, '--off', '--json')
    await say('policy', 'shadow', policy.policy)
    await both('policy', 'diff', '1', '2', '--policy', policy.policy)
    await say('policy', 'diff', '2', '--policy', policy.policy)
    await both('policy', 'check', file)
    await both('policy', 'test', file)
    await say('policy')
  })

  frozen('lists', async () => {
    await say('lists', 'create', 'partners', '--description', 'known')
    await say('lists', 'create', 'friends', '--json')
    await say('lists', 'create', 'partners')
    await say('lists', 'create', 'Bad Name')
    await say('lists', 'create', 'long', '--description', 'x'.repeat(201))
    await say('lists', 'create')
    await say('lists', 'create', 'sanctions', '--shared')
    await say('lists', 'add', 'partners', EVM, SOLANA, '--memo', 'met them')
    await say('lists', 'add', 'partners', EVM, OTHER, '--json')
    await say('lists', 'add', 'deny', OTHER)
    await say('lists', 'add', 'nobody', OTHER)
    await say('lists', 'add', 'partners', 'no-address')
    await say('lists', 'add', 'partners')
    await say('lists', 'add', 'partners', EVM, '--memo', 'x'.repeat(501))
    await say('lists', 'add', 'partners', EVM, '--author', 'bea')
    await both('lists', 'find', 'partners', EVM)
    await both('lists', 'find', 'friends', EVM)
    await say('lists', 'find', 'nobody', EVM)
    await say('lists', 'remove', 'partners', OTHER)
    await say('lists', 'remove', 'partners', OTHER, '--json')
    await both('lists', 'list')
    await say('lists', 'list', '--shared')
    await both('lists', 'show', 'partners')
    await say('lists', 'show', 'nobody')
    const good = world.file('good.csv', `address,memo\n${EVM},one\n${OTHER},"two, three"\n`)
    const bad = world.file('bad.txt', `${EVM}\nnobody\n`)
    await say('lists', 'upload', 'friends', good)
    await say('lists', 'upload', 'friends', good, '--merge', '--json')
    await say('lists', 'upload', 'friends', bad)
    await say('lists', 'upload', 'friends', bad, '--json')
    await say('lists', 'upload', 'friends', bad, '--skip-bad')
    await say('lists', 'upload', 'nobody', good)
    await say('lists', 'upload', 'friends', '/nowhere/none.csv')
    await say('lists', 'upload', 'friends', good, '--format', 'pdf')
    await say('lists', 'upload', 'friends')
    await say('lists', 'upload', 'allow', good, '--author', 'bea')
    await say('lists', 'export', 'allow')
    await say('lists', 'export', 'allow', '--format', 'csv')
    await say('lists', 'export', 'allow', '--json')
    await say('lists', 'export', 'allow', '--output', good)
    await say('lists', 'source', 'friends', '--from', good, '--every', '12h')
    await say('lists', 'refresh', 'friends')
    await say('lists', 'refresh', 'partners')
    await say('lists', 'source', 'friends', '--from', good, '--every', '12h', '--json')
    await say('lists', 'show', 'friends')
    await say('lists', 'add', 'friends', EVM)
    await say('lists', 'upload', 'friends', good)
    await say('lists', 'source', 'friends', '--from', 'ftp://example.org/list')
    await say('lists', 'source', 'friends', '--from', good, '--every', '1s')
    await say('lists', 'source', 'friends', '--none')
    await say('lists', 'source', 'friends', '--none', '--json')
    await say('lists', 'delete', 'friends')
    await say('lists', 'delete', 'sanctions', '--shared', '--json')
    await say('lists', 'delete', 'friends')
    await say('lists', 'list', '--org', 'nobody')
    await say('lists', 'list', '--shared', '--org', 'demo')
    await say('lists', 'list', '--memo', 'x')
    await say('lists')
  })

  frozen('session', async () => {
    const make = (wallet: string | null): Promise<string> =>
      world.withStore(async (store) => {
        const organization = await store.organizations.find('demo')
        const { session } = await store.sessions.register({
          organizationId: organization?.id ?? '',
          environment: 'live',
          checkType: 'kyc',
          sessionId: newSessionId(),
          tokenHash: crypto.getRandomValues(new Uint8Array(32)),
          walletAddress: wallet as never,
          originUrl: null,
          provider: 'manual',
          actor: 'key:test',
        })
        return session.id
      })
    const one = await make(null)
    await both('session', 'list')
    await say('session', 'list', '--quiet')
    await say('session', 'list', '--status', 'lost')
    await say('session', 'list', '--limit', '0')
    await say('session', 'list', '--test', '--live')
    await both('session', 'show', one)
    await say('session', 'show', newSessionId())
    await say('session', 'show')
    await say('session', 'decide', one, 'retry', '--fix', 'fullName,wallets', '--comment', 'Again', '--note', 'Blurry')
    await say('session', 'decide', one, 'retry', '--fix', 'shoes')
    await say('session', 'decide', one, 'completed', '--fix', 'fullName')
    await say('session', 'decide', one, 'completed')
    await say('session', 'decide', one, 'retry', '--override')
    await say('session', 'decide', one, 'completed', '--override', '--by', 'bea', '--json')
    await say('session', 'decide', one, 'rejected')
    await say('session', 'decide', one, 'retry', '--revoke', '--comment', 'Sorry')
    await say('session', 'decide', one, 'rejected', '--comment', 'x'.repeat(1001))
    await say('session', 'decide', one, 'rejected', '--note', 'a\nb')
    await say('session', 'decide', one, 'rejected')
    await say('session', 'decide', one, 'rejected', '--note', 'Looks edited')
    await say('session', 'decide', one, 'retry')
    await say('session', 'decide', one, 'sideways')
    await say('session', 'decide', newSessionId(), 'rejected')
    await say('session')
  })

  frozen('evidence', async () => {
    await both('evidence', 'retention')
    await say('evidence', 'retention', '--completed', '100')
    await say('evidence', 'retention', '--rejected', '10', '--abandoned', '1', '--json')
    await say('evidence', 'retention', '--completed', '-1')
    await say('evidence', 'retention', '--completed=99999')
    await say('evidence', 'retention', '--org', 'nobody')
    const session = (await world.run('session', 'list', '--quiet')).stdout.trim()
    await both('evidence', 'show', session)
    await say('evidence', 'show', newSessionId())
    await say('evidence', 'save', session, newSessionId(), '--out', `${world.root}/out`)
    await both('evidence', 'reads', session)
    await say('evidence', 'erase', session)
    await say('evidence', 'erase', session, '--json')
    await say('evidence')
  })

  frozen('attester', async () => {
    const added = parse<{ address: string }>(await say('attester', 'add', '--kind', 'secp256k1', '--json'))
    world.call(added.address, 'attester address')
    transcript = world.named(transcript)
    const key = world.file('key.hex', '11'.repeat(32))
    await say('attester', 'import', key)
    await say('attester', 'import', key)
    await say('attester', 'import', world.file('no.key', 'no key'))
    await say('attester', 'import', '/nowhere')
    await say('attester', 'add')
    await say('attester', 'add', '--kind', 'rsa')
    await both('attester', 'list')
    await say('attester', 'retire', added.address)
    await say('attester', 'retire', added.address, '--final', '--json')
    await say('attester', 'retire', added.address)
    await say('attester', 'retire', '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A')
    await say('attester', 'retire', 'nobody')
    await say('attester', 'retire')
    await say('attester')
  })

  frozen('account', async () => {
    await world.withStore((store) =>
      store.users.create({ email: 'ada@example.org', name: 'Ada', deploymentAdmin: true, passwordHash: 'x' }),
    )
    await say('account', 'recover', 'ada@example.org')
    await say('account', 'recover', 'ADA@example.org', '--remove-second-factors', '--json')
    await say('account', 'recover', 'nobody@example.org')
    await say('account', 'recover')
    await say('account')
  })
})
