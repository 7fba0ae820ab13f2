// Checks the country of submission, and whether the organization knows the person or portrait by another identity.
import type { Session } from '../../../domain/session.ts'
import type { NewSessionCheck, SinglePart } from '../../../identity/checks/checks.ts'
import type { Traces } from '../../../identity/checks/traces.ts'
import { DocumentInvalidError } from '../../../identity/evidence/errors.ts'
import { collect } from '../../../identity/evidence/sealed-stream.ts'
import type { EvidenceFields, EvidenceService } from '../../../identity/evidence-types.ts'
import { nameKey } from '../names.ts'
import { CHECK_ACTOR, type TraceStore } from './document-checks.ts'

// Finds hashes that differ in at most 7 of 64 bits by equality lookups: at least one of four 16-bit parts then differs
// in at most one bit. Each part is stored, and looked up as it is and with each bit flipped.

/** Maximum distance between copies of a photograph. Other photographs differ in 20 or more bits. */
export const DISTANCE_MAX = 7

const PARTS = 4
const PART_BITS = 16

const partsOf = (hash: string): readonly number[] =>
  Array.from({ length: PARTS }, (_, part) => Number.parseInt(hash.slice(part * 4, part * 4 + 4), 16))

const kindOf = (part: number, bits: number): string => `person.portrait.${part}.${bits.toString(16).padStart(4, '0')}`

export const storedKinds = (hash: string): readonly string[] => partsOf(hash).map((bits, part) => kindOf(part, bits))

export const soughtKinds = (hash: string): readonly string[] =>
  partsOf(hash).flatMap((bits, part) => [
    kindOf(part, bits),
    ...Array.from({ length: PART_BITS }, (_, bit) => kindOf(part, bits ^ (1 << bit))),
  ])

export const distanceOf = (one: string, other: string): number =>
  (BigInt(`0x${one}`) ^ BigInt(`0x${other}`)).toString(2).replaceAll('0', '').length

interface PersonCheckDependencies {
  readonly evidence: Pick<EvidenceService, 'listEvidence' | 'openDocument' | 'readFields'>
  /** Returns a hash of 16 hex digits. @throws DocumentInvalidError, EvidenceBusyError */
  readonly hashPortrait: (picture: Uint8Array) => Promise<string>
  readonly originOf: (organizationId: string, sessionId: string) => Promise<string | null>
  readonly traces: Traces
  readonly traceStore: TraceStore
}

const VERSION = 'person 2'
const GROUP = 'person.'
const NAME = 'person.name'

export const createPersonChecks = (dependencies: PersonCheckDependencies): SinglePart => {
  const { evidence, hashPortrait, originOf, traces, traceStore } = dependencies
  const check = (name: string, outcome: NewSessionCheck['outcome'], detail = {}): NewSessionCheck => ({
    name: `${GROUP}${name}`,
    outcome,
    detail,
    version: VERSION,
  })

  const nameTrace = async ({ organizationId }: Session, { fullName, birthDate }: EvidenceFields) => {
    const name = fullName === undefined ? null : nameKey(fullName)
    if (name === null || birthDate === undefined) return null
    return traces.valueOf(organizationId, NAME, `${name}\n${birthDate}`)
  }

  const portraitTrace = async (session: Session): Promise<string | 'unreadable' | null> => {
    const { documents } = await evidence.listEvidence(session)
    const portrait = documents.find(({ kind }) => kind === 'portrait')
    const opened = portrait && (await evidence.openDocument(session, portrait.id, CHECK_ACTOR))
    if (!opened) return null
    try {
      const hash = await hashPortrait(await collect(opened.stream))
      return await traces.masked(session.organizationId, 'person.portrait', hash)
    } catch (error) {
      if (!(error instanceof DocumentInvalidError)) throw error
      return 'unreadable'
    }
  }

  const ofPortrait = async (session: Session, hash: string): Promise<NewSessionCheck> => {
    if (hash === 'unreadable') return check('portrait', 'unreadable')
    const alike = await traceStore.findKinds(session, soughtKinds(hash))
    const near = alike.filter(({ value }) => distanceOf(hash, value) <= DISTANCE_MAX)
    const sessions = [...new Set(near.map(({ sessionId }) => sessionId))]
    return check('portrait', sessions.length === 0 ? 'passed' : 'look', { sessions })
  }

  return {
    name: 'person',
    run: async (session) => {
      if (session.checkType !== 'kyc') return []
      const fields = await evidence.readFields(session, CHECK_ACTOR)
      const name = await nameTrace(session, fields)
      const portrait = await portraitTrace(session)
      await traceStore.replace(session.organizationId, session.id, GROUP, [
        ...(name === null ? [] : [{ kind: NAME, value: name }]),
        ...(portrait === null || portrait === 'unreadable'
          ? []
          : storedKinds(portrait).map((kind) => ({ kind, value: portrait }))),
      ])
      const namesakes = name === null ? [] : await traceStore.findValues(session, NAME, [name])
      const origin = await originOf(session.organizationId, session.id)
      const sessions = namesakes.map(({ sessionId }) => sessionId)
      return [
        ...(origin === null || fields.country === undefined
          ? []
          : [check('address', origin === fields.country ? 'passed' : 'look')]),
        ...(name === null ? [] : [check('name', sessions.length === 0 ? 'passed' : 'look', { sessions })]),
        ...(portrait === null ? [] : [await ofPortrait(session, portrait)]),
      ]
    },
  }
}
