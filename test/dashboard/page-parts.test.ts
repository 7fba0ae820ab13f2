// Computations of the dashboard's pages: paths, times, problems, commands.
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

test('rows of an export are counted across chunks', () => {
  const csv = Buffer.from('uuid,request\r\n1,"two\r\nlines and ""quotes"""\r\n2,plain\r\n')
  for (let cut = 0; cut <= csv.length; cut++) {
    const count = createRowCounter('csv')
    expect(count(csv.subarray(0, cut)) + count(csv.subarray(cut))).toBe(3)
  }
  // JSON has no raw line breaks in strings, so quotes are not counted.
  expect(createRowCounter('ndjson')(Buffer.from('{"a":"\\""}\n{}\n'))).toBe(2)
})

test('after a decision, the next session is assigned to the reviewer or unassigned', () => {
  const waiting = (id: string, to: string | null = null) => ({ id, assigned_to: to })
  const queue = [waiting('1', 'other'), waiting('2'), waiting('3'), waiting('4', 'other'), waiting('5', 'own')]
  const after = (id: string): string | undefined => nextOf(queue, id, 'own')?.id
  expect(['1', '2', '3', '4', '5'].map(after)).toEqual(['2', '3', '5', '5', '2'])
  // Session 3 was decided and is not in the queue.
  expect(nextOf(queue.slice(3), '3', 'own')?.id).toBe('5')
  expect(nextOf([waiting('3'), waiting('4', 'other')], '3', 'own')).toBeNull()
})

test('actors are shown with the names of their keys and policies', () => {
  for (const [actor, keyName, policyName, label] of [
    ['operator:Ada Byron', null, null, 'Ada Byron'],
    ['operator:key:k1', 'Backend', null, 'API key Backend'],
    ['key:k1', 'Backend', null, 'API key Backend'],
    ['key:k1', null, null, 'API key k1'],
    ['operator:key:k1', null, null, 'API key k1'],
    ['person', null, null, 'the person'],
    ['policy:policy_1:3', null, 'People', 'policy People, revision 3'],
  ] as const) {
    expect(actorWord({ actor, key_name: keyName, policy_name: policyName })).toBe(label)
  }
})

test('an agreement is shown with its version and language', () => {
  expect(agreementWord('2.de')).toBe('Version 2 of the text, in German')
})

test('differences of a policy are described in words', () => {
  const paths = ['rules/a/deny', 'rules/a/message', 'constants/limit', 'requires', 'abi']
  const sentences = ['Rule a', 'Rule a, message', 'Constant limit', 'Required request fields', 'abi']
  expect(paths.map((what) => sentence({ kind: 'changed', what }))).toEqual(sentences)
  const values = [['a', 'b'], '["msg_value","user_ip"]', '[]', 'ether [1, 0x2]', '[1, 0x2]', 'deny']
  const texts = ['a, b', 'msg_value, user_ip', 'nothing', 'ether [1, 0x2]', '[1, 0x2]', 'deny']
  expect(values.map(words)).toEqual(texts)
})

test('predefined reasons match the type of session, and exist in every language of the verification page', () => {
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

describe('paths', () => {
  test('of a pattern match the pattern, with any parameters', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 30 }), (name) => {
        const path = pathFor('/o/{organization}/lists/{list}', { organization: 'acme', list: name })
        // Browsers resolve these.
        fc.pre(name !== '.' && name !== '..')
        expect(matchPath('/o/{organization}/lists/{list}', path)).toEqual({ organization: 'acme', list: name })
      }),
    )
  })

  test('of another pattern do not match', () => {
    for (const path of ['/o/acme', '/o//lists/x', '/o/acme/keys/x', '/o/acme/lists/x/y', '/o/acme/lists/%ff']) {
      expect(matchPath('/o/{organization}/lists/{list}', path)).toBeNull()
    }
    expect(matchPath('/o/{organization}', '/o/acme/')).toEqual({ organization: 'acme' })
  })

  test('titles and keys of pages are unique', () => {
    const navigations = PAGES.flatMap(({ navigation, title }) =>
      navigation === undefined ? [] : [{ navigation, title }],
    )
    for (const values of [
      PAGES.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, '{}')),
      navigations.map(({ navigation }) => navigation.key),
      navigations.map(({ title }) => title),
    ]) {
      expect(new Set(values).size).toBe(values.length)
    }
  })
})

describe('problems', () => {
  /** The error of the admin API. */
  const refused = (error: FieldInvalidError | FieldMissingError): ApiError => {
    const { field: name, rule = '' } = fieldMembers(error)
    return new ApiError(400, error.code, error.detail, 'request-1', {
      field: name === undefined ? null : { name, rule },
    })
  }

  test('of a field are shown at the field', () => {
    const problemOf = (error: FieldInvalidError | FieldMissingError) => fieldProblemOf(refused(error))
    expect(problemOf(new FieldInvalidError('name', 'must not be empty'))).toEqual({
      field: 'name',
      text: 'Must not be empty.',
    })
    for (const [field, detail] of [
      ['rate_limit.burst', 'must be a whole number'],
      ['add[0].address', 'is malformed'],
    ] as const) {
      expect(problemOf(new FieldInvalidError(field, detail))?.field).toBe(field)
    }
    expect(problemOf(new FieldMissingError('email'))).toEqual({ field: 'email', text: 'This field is required.' })
    const ofEntry = problemOf(new FieldInvalidError('entries[1].address', 'must be an address'))
    expect(ofEntry?.text).toBe('Entry 2 must be an address.')
    expect(problemOf(new FieldInvalidError('the request', 'is invalid'))).toBeNull()
    expect(fieldProblemOf(new NetworkError('could not reach the server'))).toBeNull()
  })

  test('contain the id of the request in the log', () => {
    expect(problemText(new ApiError(500, 'INTERNAL', 'an internal error occurred', 'abc')).requestId).toBe('abc')
    const limited = new ApiError(429, 'RATE_LIMITED', 'too many', 'abc', { retryAfterSeconds: 7 })
    expect(problemText(limited).text).toContain('7 seconds')
    expect(problemText(new NetworkError('could not reach the server')).requestId).toBeNull()
  })
})

test('a 401 signs the page out, except for a wrong password, and is not retried', async () => {
  const request = async (code: string, key: 'PUT /me/password' | 'GET /me') => {
    let signOuts = 0
    const unsubscribe = onSignedOut(() => {
      signOuts += 1
    })
    const answer = async (): Promise<Response> => Response.json({ code, detail: 'no' }, { status: 401 })
    const fetching = spyOn(globalThis, 'fetch').mockImplementation(answer as unknown as typeof fetch)
    try {
      const response = key === 'GET /me' ? call(key) : call(key, { body: { current_password: 'a', new_password: 'b' } })
      await expect(response).rejects.toBeInstanceOf(ApiError)
      return [signOuts, fetching.mock.calls.length]
    } finally {
      fetching.mockRestore()
      unsubscribe()
    }
  }
  expect(await request('UNAUTHENTICATED', 'GET /me')).toEqual([1, 1])
  expect(await request('UNAUTHENTICATED', 'PUT /me/password')).toEqual([1, 1])
  expect(await request('CREDENTIAL_WRONG', 'PUT /me/password')).toEqual([0, 1])
})

test('a role includes lower roles, but only in organizations of its account', () => {
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
  for (const [required, role, isAdmin, expected] of [
    ['viewer', 'reviewer', false, true],
    ['organization-admin', 'reviewer', false, false],
    ['viewer', null, false, false],
    ['organization-admin', null, true, true],
    ['deployment', 'organization-admin', false, false],
  ] as const) {
    expect(isAllowed(required, account(role, isAdmin), organization)).toBe(expected)
  }
})

test('a page names the missing role and the current role', () => {
  expect(roleMissing('organization-admin', 'viewer')).toBe(
    'This page requires the role Admin, and yours is Viewer. An organization admin can change your role under Members.',
  )
  expect(roleMissing('reviewer', null)).toStartWith('This page requires the role Reviewer. An organization admin')
})

test('the curl command escapes every input for the shell', async () => {
  const wallet = `0x'; echo "hit" $(echo hit) \`echo hit\` \\ '`
  const command = curlFor({
    apiUrl: 'http://127.0.0.1:1',
    apiKey: null,
    verificationHash: 'x-1',
    chain: 'base',
    wallet,
    fields: callFields(['user_ip', 'msg_value', 'unknown'], { msg_value: ' 5 ' }),
  })
  // The stub prints the last argument of curl.
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

test('details of a change show the new values and the differences', () => {
  expect(describeDetail({ name: ['Old', 'New'], level: ['basic', 'basic'], removed: [], note: null })).toBe(
    'name: Old → New',
  )
  expect(describeDetail({ overlap_seconds: 60 })).toBe('overlap seconds: 60')
  // Names and numbers come first. Ids are shown only if there are no other values.
  const revision = 'revision_0123456789abcdef'
  expect(describeDetail({ revision: [null, revision], chain: 'base', number: 2 })).toBe('number: 2, chain: base')
  // The id of another policy is always shown.
  expect(describeDetail({ name: ['A', 'B'], policy: ['policy_0123456789abcdef', 'policy_0123456789abcdeg'] })).toBe(
    'name: A → B, policy: policy_0123456789abcdef → policy_0123456789abcdeg',
  )
  expect(describeDetail({ revision: [null, revision], level: ['basic', 'basic'] })).toBe(`revision: none → ${revision}`)
})

test('names are converted to slugs', () => {
  expect(slugOf('Acme Exchange GmbH & Co.')).toBe('acme-exchange-gmbh-co')
  expect(slugOf('  Çelik—Ödeme ')).toBe('celik-odeme')
})

test('prefixes match before substrings and scattered letters', () => {
  const scores = ['lis', 'hare', 'sl', 'zz'].map((query) => matchScore('Shared lists', query))
  expect([matchScore('Audit log', 'aud'), ...scores]).toEqual([0, 1, 2, 3, null])
})

test('search results come before pages that match only scattered letters', () => {
  const named = (label: string) => ({ label, group: 'Page' })
  const pages = [named('Deployment approvals'), named('Parts')]
  const labels = rankCommands(pages, [named('partners')], 'par').map(({ label }) => label)
  expect(labels).toEqual(['Parts', 'partners', 'Deployment approvals'])
})

test('times are relative', () => {
  const nowMs = Date.parse('2027-01-31T12:00:00Z')
  const times = ['2027-01-31T11:59:55Z', '2027-01-31T11:57:00Z', '2027-02-02T12:00:00Z']
  expect(times.map((time) => relativeTime(time, nowMs))).toEqual(['now', '3 minutes ago', 'in 2 days'])
})

test('browsers are shown by name', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36'
  expect([chrome, 'curl/8.0', ''].map(browserName)).toEqual(['Chrome on Linux', 'curl/8.0', 'Unknown'])
})
