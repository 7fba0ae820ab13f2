// What the pages compute by themselves: addresses, times, problems, commands.
import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { fieldMembers } from '../../src/admin/field-members.ts'
import { browserName } from '../../src/dashboard/page/account/browser-name.ts'
import { call, onSignedOut } from '../../src/dashboard/page/api/client.ts'
import { ApiError, fieldProblemOf, NetworkError, problemText } from '../../src/dashboard/page/api/errors.ts'
import { callFields, curlFor } from '../../src/dashboard/page/attest/curl.ts'
import { describeDetail } from '../../src/dashboard/page/audit/detail.ts'
import { createRowCounter } from '../../src/dashboard/page/decisions/export-run.ts'
import { slugOf } from '../../src/dashboard/page/organizations/slug.ts'
import { PAGES } from '../../src/dashboard/page/pages.ts'
import { sentence, words } from '../../src/dashboard/page/policies/difference-words.ts'
import { actorWord } from '../../src/dashboard/page/reviews/labels.ts'
import { nextOf } from '../../src/dashboard/page/reviews/queue.ts'
import {
  agreementWord,
  languageOf,
  REJECT_REASONS,
  RETRY_REASONS,
  reasonsFor,
} from '../../src/dashboard/page/reviews/reasons.ts'
import { matchPath, pathFor } from '../../src/dashboard/page/router.ts'
import { matchScore, rankCommands } from '../../src/dashboard/page/shell/match.ts'
import { isAllowed, type Role, roleMissing } from '../../src/dashboard/page/shell/session.ts'
import { relativeTime } from '../../src/dashboard/page/ui/relative-time.ts'
import { FieldInvalidError, FieldMissingError } from '../../src/domain/errors.ts'
import { LANGUAGES } from '../../src/portal/contract.ts'

test('rows of an export are counted by their ends, wherever the bytes are cut', () => {
  const csv = Buffer.from('uuid,request\r\n1,"two\r\nlines and ""quotes"""\r\n2,plain\r\n')
  for (let cut = 0; cut <= csv.length; cut++) {
    const count = createRowCounter('csv')
    expect(count(csv.subarray(0, cut)) + count(csv.subarray(cut))).toBe(3)
  }
  // A quote is nothing special there: JSON writes its line breaks as two characters.
  expect(createRowCounter('ndjson')(Buffer.from('{"a":"\\""}\n{}\n'))).toBe(2)
})

test('after a decision comes the next session that is one\u2019s own or nobody\u2019s, and then the first', () => {
  const waiting = (id: string, to: string | null = null) => ({ id, assigned_to: to })
  const queue = [waiting('1', 'other'), waiting('2'), waiting('3'), waiting('4', 'other'), waiting('5', 'own')]
  const after = (id: string): string | undefined => nextOf(queue, id, 'own')?.id
  expect(['1', '2', '3', '4', '5'].map(after)).toEqual(['2', '3', '5', '5', '2'])
  // It was decided meanwhile, and is in the queue no more.
  expect(nextOf(queue.slice(3), '3', 'own')?.id).toBe('5')
  expect(nextOf([waiting('3'), waiting('4', 'other')], '3', 'own')).toBeNull()
})

test('who did something is said by name, a key by its own', () => {
  const word = (actor: string, keyName: string | null = null, policyName: string | null = null): string =>
    actorWord({ actor, key_name: keyName, policy_name: policyName })
  expect([
    word('operator:Ada Byron'),
    word('operator:key:k1', 'Backend'),
    word('key:k1', 'Backend'),
    word('key:k1'),
    word('operator:key:k1'),
    word('person'),
    word('policy:policy_1:3', null, 'People'),
  ]).toEqual([
    'Ada Byron',
    'API key Backend',
    'API key Backend',
    'API key k1',
    'API key k1',
    'the person',
    'policy People, revision 3',
  ])
})

test('what a person agreed to is named with its version and language', () => {
  expect(agreementWord('2.de')).toBe('Version 2 of the text, in German')
})

test('differences of a policy are said in words', () => {
  const said = (what: string): string => sentence({ kind: 'changed', what })
  expect(['rules/a/deny', 'rules/a/message', 'constants/limit', 'requires', 'abi'].map(said)).toEqual([
    'Rule a',
    'Rule a, message',
    'Constant limit',
    'Required request fields',
    'abi',
  ])
  expect([['a', 'b'], '["msg_value","user_ip"]', '[]', 'ether [1, 0x2]', '[1, 0x2]', 'deny'].map(words)).toEqual([
    'a, b',
    'msg_value, user_ip',
    'nothing',
    'ether [1, 0x2]',
    '[1, 0x2]',
    'deny',
  ])
})

test('canned reasons fit whom they are said to, and are there in every language of the verification page', () => {
  const labels = (type: 'individual' | 'business'): readonly string[] =>
    reasonsFor('rejected', type, []).map(({ label }) => label)
  expect(labels('individual')).toContain('Underage')
  expect(labels('individual')).not.toContain('Owners unknown')
  expect(labels('business')).not.toContain('Underage')
  for (const type of ['individual', 'business'] as const) expect(new Set(labels(type)).size).toBe(labels(type).length)
  expect(reasonsFor('retry', 'business', ['owners']).map(({ parts }) => parts)).toEqual([['owners']])
  for (const { texts } of [...REJECT_REASONS, ...RETRY_REASONS]) {
    expect(Object.keys(texts).sort()).toEqual([...LANGUAGES].sort())
    expect(new Set(Object.values(texts)).size).toBe(LANGUAGES.length)
  }
  expect(['de', 'fr', null].map(languageOf)).toEqual(['de', 'en', 'en'])
})

describe('addresses', () => {
  test('a path of a pattern is matched by that pattern, whatever stands in it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 30 }), (name) => {
        const path = pathFor('/o/{organization}/lists/{list}', { organization: 'acme', list: name })
        // A browser resolves these before anything sees them.
        fc.pre(name !== '.' && name !== '..')
        expect(matchPath('/o/{organization}/lists/{list}', path)).toEqual({ organization: 'acme', list: name })
      }),
    )
  })

  test('what is no path of a pattern is not matched', () => {
    for (const path of ['/o/acme', '/o//lists/x', '/o/acme/keys/x', '/o/acme/lists/x/y', '/o/acme/lists/%ff']) {
      expect(matchPath('/o/{organization}/lists/{list}', path)).toBeNull()
    }
    expect(matchPath('/o/{organization}', '/o/acme/')).toEqual({ organization: 'acme' })
  })

  test('no two pages have the same address or the same key', () => {
    const paths = PAGES.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, '{}'))
    expect(new Set(paths).size).toBe(paths.length)
    const keys = PAGES.flatMap(({ navigation }) => (navigation === undefined ? [] : [navigation.key]))
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('no two entries of the navigation have the same name', () => {
    const names = PAGES.flatMap(({ navigation, title }) => (navigation === undefined ? [] : [title]))
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('problems', () => {
  /** As the admin API says it. */
  const refused = (error: FieldInvalidError | FieldMissingError): ApiError => {
    const { field: name, rule = '' } = fieldMembers(error)
    return new ApiError(400, error.code, error.detail, 'request-1', {
      field: name === undefined ? null : { name, rule },
    })
  }

  test('that the server finds in a field are shown at that field', () => {
    expect(fieldProblemOf(refused(new FieldInvalidError('name', 'must not be empty')))).toEqual({
      field: 'name',
      text: 'Must not be empty.',
    })
    expect(fieldProblemOf(refused(new FieldInvalidError('rate_limit.burst', 'must be a whole number')))?.field).toBe(
      'rate_limit.burst',
    )
    expect(fieldProblemOf(refused(new FieldInvalidError('add[0].address', 'is malformed')))?.field).toBe(
      'add[0].address',
    )
    expect(fieldProblemOf(refused(new FieldMissingError('email')))).toEqual({
      field: 'email',
      text: 'This field is required.',
    })
    expect(fieldProblemOf(refused(new FieldInvalidError('entries[1].address', 'must be an address')))?.text).toBe(
      'Entry 2 must be an address.',
    )
    expect(fieldProblemOf(refused(new FieldInvalidError('the request', 'is invalid')))).toBeNull()
    expect(fieldProblemOf(new NetworkError('could not reach the server'))).toBeNull()
  })

  test('say what is known and name the request in the log', () => {
    expect(problemText(new ApiError(500, 'INTERNAL', 'an internal error occurred', 'abc')).requestId).toBe('abc')
    expect(problemText(new ApiError(429, 'RATE_LIMITED', 'too many', 'abc', { retryAfterSeconds: 7 })).text).toContain(
      '7 seconds',
    )
    expect(problemText(new NetworkError('could not reach the server')).requestId).toBeNull()
  })
})

describe('a 401', () => {
  const answer = (code: string) => async (): Promise<Response> => Response.json({ code, detail: 'no' }, { status: 401 })
  const heard = async (code: string, key: 'PUT /me/password' | 'GET /me'): Promise<[told: number, asked: number]> => {
    let told = 0
    const ignore = onSignedOut(() => {
      told += 1
    })
    const fetching = spyOn(globalThis, 'fetch').mockImplementation(answer(code) as unknown as typeof fetch)
    try {
      const asking = key === 'GET /me' ? call(key) : call(key, { body: { current_password: 'a', new_password: 'b' } })
      await expect(asking).rejects.toBeInstanceOf(ApiError)
      return [told, fetching.mock.calls.length]
    } finally {
      fetching.mockRestore()
      ignore()
    }
  }

  test('says that nobody is signed in, save where a password was wrong; neither asks again', async () => {
    expect(await heard('UNAUTHENTICATED', 'GET /me')).toEqual([1, 1])
    expect(await heard('UNAUTHENTICATED', 'PUT /me/password')).toEqual([1, 1])
    expect(await heard('CREDENTIAL_WRONG', 'PUT /me/password')).toEqual([0, 1])
  })
})

test('a role includes the ones below it, and nobody has one where they are no member', () => {
  const organization = { id: 'org_1', slug: 'acme', name: 'Acme', level: 'basic', created_at: '' } as const
  const account = (role: Role | null, deployment_admin = false) => ({
    kind: 'person' as const,
    id: 'user:1',
    name: 'A',
    email: 'a@example.org',
    deployment_admin,
    memberships: role === null ? [] : [{ organization_id: 'org_1', role }],
    has_totp: false,
    has_passkeys: false,
    recovery_codes_left: 0,
    passkeys_possible: true,
    second_factor_missing: { deployment: false, organization_ids: [] },
  })
  expect(isAllowed('viewer', account('reviewer'), organization)).toBe(true)
  expect(isAllowed('organization-admin', account('reviewer'), organization)).toBe(false)
  expect(isAllowed('viewer', account(null), organization)).toBe(false)
  expect(isAllowed('organization-admin', account(null, true), organization)).toBe(true)
  expect(isAllowed('deployment', account('organization-admin'), organization)).toBe(false)
})

test('a page that someone’s role does not open names both roles as the pages call them', () => {
  expect(roleMissing('organization-admin', 'viewer')).toBe(
    'This page requires the role Admin, and yours is Viewer. An organization admin can change your role under Members.',
  )
  expect(roleMissing('reviewer', null)).toStartWith('This page requires the role Reviewer. An organization admin')
})

test('the command survives the shell whatever was typed', async () => {
  const wallet = `0x'; echo "hit" $(echo hit) \`echo hit\` \\ '`
  const command = curlFor({
    apiUrl: 'http://127.0.0.1:1',
    apiKey: null,
    verificationHash: 'x-1',
    chain: 'base',
    wallet,
    fields: callFields(['user_ip', 'msg_value', 'unknown'], { msg_value: ' 5 ' }),
  })
  // What curl would be given.
  const printed =
    await Bun.$`sh -c ${`curl() { for each in "$@"; do last=$each; done; printf %s "$last"; }\n${command}`}`.text()
  expect(JSON.parse(printed)).toEqual({
    from: wallet,
    chain: 'base',
    verification_hash: 'x-1',
    msg_value: '5',
    user_ip: '203.0.113.7',
  })
})

test('the details of a change are what was given, and what is different', () => {
  expect(describeDetail({ name: ['Old', 'New'], level: ['basic', 'basic'], removed: [], note: null })).toBe(
    'name: Old → New',
  )
  expect(describeDetail({ overlap_seconds: 60 })).toBe('overlap seconds: 60')
  // Names and numbers first, null as none, ids only without other values.
  const revision = 'revision_0123456789abcdef'
  expect(describeDetail({ revision: [null, revision], chain: 'base', number: 2 })).toBe('number: 2, chain: base')
  // Another policy is never hidden by another name.
  expect(describeDetail({ name: ['A', 'B'], policy: ['policy_0123456789abcdef', 'policy_0123456789abcdeg'] })).toBe(
    'name: A → B, policy: policy_0123456789abcdef → policy_0123456789abcdeg',
  )
  expect(describeDetail({ revision: [null, revision], level: ['basic', 'basic'] })).toBe(`revision: none → ${revision}`)
})

test('names become short names', () => {
  expect(slugOf('Acme Exchange GmbH & Co.')).toBe('acme-exchange-gmbh-co')
  expect(slugOf('  Çelik—Ödeme ')).toBe('celik-odeme')
})

test('letters find what begins with them before what merely has them', () => {
  expect(matchScore('Audit log', 'aud')).toBe(0)
  expect(matchScore('Shared lists', 'lis')).toBe(1)
  expect(matchScore('Shared lists', 'hare')).toBe(2)
  expect(matchScore('Shared lists', 'sl')).toBe(3)
  expect(matchScore('Shared lists', 'zz')).toBeNull()
})

test('what the search found comes before pages that only scattered letters match', () => {
  const named = (label: string) => ({ label, group: 'Page' })
  const pages = [named('Deployment approvals'), named('Parts')]
  expect(rankCommands(pages, [named('partners')], 'par').map(({ label }) => label)).toEqual([
    'Parts',
    'partners',
    'Deployment approvals',
  ])
})

test('times are told as people tell them', () => {
  const nowMs = Date.parse('2027-01-31T12:00:00Z')
  expect(relativeTime('2027-01-31T11:59:55Z', nowMs)).toBe('now')
  expect(relativeTime('2027-01-31T11:57:00Z', nowMs)).toBe('3 minutes ago')
  expect(relativeTime('2027-02-02T12:00:00Z', nowMs)).toBe('in 2 days')
})

test('browsers are called by their names', () => {
  expect(
    browserName('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36'),
  ).toBe('Chrome on Linux')
  expect(browserName('curl/8.0')).toBe('curl/8.0')
  expect(browserName('')).toBe('Unknown')
})
