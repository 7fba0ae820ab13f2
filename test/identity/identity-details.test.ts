// Country and age for policies: only from the organization's own completed verification, and only while the agreement,
// the setting and the evidence exist. Changes are read from the change feed, like in other processes.
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EvidenceRecord } from '../../src/domain/evidence.ts'
import { createDetailsReader } from '../../src/identity/evidence/typed-fields.ts'
import { createVault } from '../../src/identity/evidence/vault.ts'
import { createIdentityDetails, createIdentityFacts, createStandings } from '../../src/identity/standing/standings.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { BEFORE_ALL, changesSince } from '../store/changes-since.ts'
import { describeStores } from '../store/dialects.ts'
import { openEvidence } from './evidence/support.ts'
import { evmWallet } from './support.ts'

const WALLET = evmWallet(1)
const NOON = Date.UTC(2026, 10, 28, 12) / 1_000
async function* sealed(content: Uint8Array) {
  yield content
}

const UNKNOWN = { country: null, age: null }
const KNOWN = { country: 'CH', age: 30 }

test('details of a session that changed during the read are not used', async () => {
  let opened = 0
  const read = (...sequences: number[]) =>
    createDetailsReader({
      findDetailsUse: async () => sequences.shift() ?? null,
      store: { list: async () => [{ kind: 'fields' } as EvidenceRecord] },
      vault: {
        open: async () => {
          opened += 1
          return sealed(Buffer.from('{"country":"CH","birthDate":"1996-11-28"}'))
        },
      },
    })('org', 'session')
  expect(await read(5, 5)).toEqual({ country: 'CH', birthDate: '1996-11-28' })
  expect([await read(5, 6), await read(5), opened]).toEqual([null, null, 3])
  // Without the agreement, nothing is decrypted.
  expect([await read(), opened]).toEqual([null, 3])
})

describeStores((open) => {
  const setUp = async () => {
    const opened = await openEvidence({}, open)
    const { store, files, keys } = opened
    let reads = 0
    const readDetails = createDetailsReader({
      findDetailsUse: store.portalProgress.findDetailsUse,
      store: store.evidence,
      vault: createVault({ files, keys }),
    })
    const standings = createStandings({
      source: store.walletStandings,
      isUpToDate: () => true,
      loadLevel: async (id) => (await store.organizations.find(id))?.level ?? null,
      loadDetails: (...session) => {
        reads += 1
        return readDetails(...session)
      },
    })
    let position = BEFORE_ALL
    const follow = async (): Promise<void> => {
      for (const change of await changesSince(store.database, position)) {
        position = change
        if (change.topic === 'session') standings.sessionChanged(decodeSessionSubject(change.subjectId))
        if (change.topic === 'organization') standings.organizationChanged(change.subjectId)
      }
    }
    const organization = await opened.createOrganization('asking')
    await store.organizationBrands.set(organization, { asksDetails: true })

    const agree = (sessionId: string, usesDetails: boolean, organizationId = organization, shares = true) =>
      store.portalProgress.recordAgreement({ organizationId, sessionId, version: '4.en', shares, usesDetails })
    const verify = async (
      usesDetails = true,
      { birthDate = '1996-11-28', country = 'CH' }: { birthDate?: string; country?: string } = {},
    ) => {
      const session = await opened.session(organization)
      await opened.connect(organization, session.id, WALLET)
      await agree(session.id, usesDetails)
      await opened.evidence.putFields(session, { fullName: 'Ada King', birthDate, country })
      await opened.move(organization, session.id, 'submitted')
      await opened.move(organization, session.id, 'completed')
      return session
    }
    const callerOf = (organizationId: string) => ({ organizationId, environment: 'live' }) as const
    const details = async (organizationId = organization, nowSeconds = NOON) => {
      await follow()
      return createIdentityDetails(standings)(callerOf(organizationId), WALLET, 'ethereum', nowSeconds)
    }
    const isVerified = async (organizationId = organization) => {
      await follow()
      return (await createIdentityFacts(standings)(callerOf(organizationId), WALLET, 'ethereum')).verified
    }
    return { ...opened, organization, standings, agree, verify, details, isVerified, reads: () => reads }
  }
  type Opened = Awaited<ReturnType<typeof setUp>>
  const testDetails = (name: string, work: (opened: Opened) => Promise<void>) =>
    test(`details ${name}`, async () => {
      const opened = await setUp()
      try {
        await work(opened)
      } finally {
        await opened.remove()
      }
    })

  testDetails(
    'of the verified person are decrypted once per change, and only for policies that read them',
    async ({ verify, details, isVerified, reads, standings, organization }) => {
      expect(await details()).toEqual(UNKNOWN)
      await verify()
      expect([await isVerified(), reads()]).toEqual([true, 0])
      expect([await details(), await details(), reads()]).toEqual([KNOWN, KNOWN, 1])
      const caller = { organizationId: organization, environment: 'live' } as const
      expect(createIdentityDetails(standings)(caller, WALLET, 'ethereum', NOON)).toEqual(KNOWN)
      // The age follows the day in UTC, without another read.
      const dayBefore = Date.UTC(2026, 10, 27, 23, 59, 59) / 1_000
      expect([await details(organization, dayBefore), reads()]).toEqual([{ country: 'CH', age: 29 }, 1])
    },
  )

  testDetails(
    'of a person born on 29 February have the next age on 1 March in other years',
    async ({ verify, details, organization }) => {
      await verify(true, { birthDate: '2004-02-29' })
      const ageOn = async (year: number, month: number, day: number) =>
        (await details(organization, Date.UTC(year, month - 1, day) / 1_000)).age
      expect([await ageOn(2026, 2, 28), await ageOn(2026, 3, 1)]).toEqual([21, 22])
      expect([await ageOn(2028, 2, 28), await ageOn(2028, 2, 29)]).toEqual([23, 24])
    },
  )

  testDetails(
    'end with the agreement, the setting, the evidence and the verification, at the same commit',
    async ({ verify, details, isVerified, agree, move, evidence, store, organization }) => {
      const session = await verify()
      expect(await details()).toEqual(KNOWN)

      // The person answers after an operator completed the session.
      await agree(session.id, false)
      expect([await details(), await isVerified()]).toEqual([UNKNOWN, true])
      await agree(session.id, true)
      expect(await details()).toEqual(KNOWN)

      await store.organizationBrands.set(organization, { asksDetails: false })
      expect([await details(), await isVerified()]).toEqual([UNKNOWN, true])
      await store.organizationBrands.set(organization, { asksDetails: true })
      expect(await details()).toEqual(KNOWN)

      await move(organization, session.id, 'retry', { revoke: true, corrections: ['country'] })
      expect([await details(), await isVerified()]).toEqual([UNKNOWN, false])
      // Other processes read the agreement from the store.
      expect(await store.portalProgress.findDetailsUse(organization, session.id)).toBeNull()
      await evidence.putFields(session, { country: 'FR' })
      expect(await details()).toEqual(UNKNOWN)
      await move(organization, session.id, 'submitted')
      expect(await details()).toEqual(UNKNOWN)
      await move(organization, session.id, 'completed', { actor: 'operator:ada' })
      expect(await details()).toEqual({ country: 'FR', age: 30 })

      await evidence.eraseSession(session, 'operator:test')
      expect([await details(), await isVerified()]).toEqual([UNKNOWN, true])
    },
  )

  testDetails(
    'end with a rejection, and after the retention period',
    async ({ verify, details, move, sweep, clock, store, organization }) => {
      const rejected = await verify()
      await move(organization, rejected.id, 'rejected', { revoke: true })
      expect(await details()).toEqual(UNKNOWN)
      await verify()
      expect(await details()).toEqual(KNOWN)
      await store.evidenceRetention.set(organization, { completedDays: 0, rejectedDays: 365, abandonedDays: 30 })
      clock.advance(3_600)
      await sweep()
      expect(await details()).toEqual(UNKNOWN)
    },
  )

  testDetails('of an earlier verification do not count after one without an agreement', async (opened) => {
    const { verify, details, isVerified } = opened
    await verify(true)
    expect(await details()).toEqual(KNOWN)
    await verify(false)
    expect([await details(), await isVerified()]).toEqual([UNKNOWN, true])
  })

  testDetails(
    'of another organization’s verification are never used, and do not hide the details of the own verification',
    async ({ verify, details, isVerified, agree, move, complete, createOrganization, store, organization }) => {
      const other = await createOrganization('other')
      await store.organizationBrands.set(other, { asksDetails: true })
      const session = await verify()
      expect([await details(other), await isVerified(other)]).toEqual([UNKNOWN, true])
      const theirs = await complete(other, [WALLET], { consent: true })
      await agree(theirs.session.id, true, other)
      expect([await details(), await details(other)]).toEqual([KNOWN, UNKNOWN])
      await move(organization, session.id, 'retry', { revoke: true })
      expect(await details()).toEqual(UNKNOWN)
    },
  )

  testDetails(
    'are unknown for a business, and if one of the two values is missing',
    async ({ session, connect, agree, evidence, move, details, organization }) => {
      const completeWith = async (checkType: 'kyc' | 'kyb', fields: object) => {
        const opened = await session(organization, checkType)
        await connect(organization, opened.id, WALLET)
        await agree(opened.id, true)
        await evidence.putFields(opened, fields)
        await move(organization, opened.id, 'submitted')
        await move(organization, opened.id, 'completed')
      }
      await completeWith('kyb', { registeredName: 'Ada Ltd', country: 'CH' })
      expect(await details()).toEqual(UNKNOWN)
      await completeWith('kyc', { country: 'CH' })
      expect(await details()).toEqual(UNKNOWN)
    },
  )

  testDetails(
    'that cannot be read fail without affecting the verification, and are read again',
    async ({ verify, details, isVerified, fileNames, folder, reads }) => {
      await verify()
      for (const name of fileNames()) rmSync(join(folder, name))
      for (const count of [1, 2]) {
        await expect(Promise.resolve(details())).rejects.toThrow()
        expect([await isVerified(), reads()]).toEqual([true, count])
      }
    },
  )
})
