// The keys that sign, and whether the chains know them. A key is made on this machine and never leaves it; what is shown is
// its address.
import type { Attester } from '../../store/attesters.ts'
import type { Tables } from '../../store/store.ts'
import { AWAITS_APPROVAL, type Perform, requestApproval, showApproval } from '../approvals.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { CALLER, DEPLOYMENT, declareRoutes, Reply } from '../route.ts'
import { closed, named, oneOf, Type, time, timeText } from '../schema.ts'
import type { NewAttesterKey } from '../services.ts'

const route = declareRoutes('Attesters')

const KIND = oneOf(['secp256k1', 'ed25519'], 'secp256k1 for EVM chains, Ed25519 for Solana')

const ATTESTER = named(
  'Attester',
  closed({
    id: Type.String(),
    kind: KIND,
    address: Type.String({ description: 'EIP-55 address, or base58 public key' }),
    status: oneOf(['active', 'retiring', 'retired'], 'Active ones sign; retired ones are not loaded, for good'),
    created_at: time(),
  }),
)

const CHAIN_FINDING = named(
  'ChainFinding',
  closed({
    chain: Type.String(),
    check: oneOf(['rpc', 'clock', 'registry', 'attester']),
    subject: Type.String({ description: 'The host of an RPC URL, the registry’s address, or an attester’s' }),
    result: oneOf(['ok', 'note', 'problem'], 'problem: attestations fail, or can’t be had'),
    detail: Type.String(),
  }),
)

const showAttester = ({ id, kind, address, status, createdAtSeconds }: Attester) => ({
  ...{ id, kind, address, status },
  created_at: timeText(createdAtSeconds),
})

const requireAttester = async (tables: Tables, attesterId: string): Promise<Attester> => {
  const found = await tables.attesters.find(attesterId)
  if (found === null) throw new SubjectUnknownError('attester')
  return found
}

const addAttester = async (
  tables: Tables,
  note: Parameters<Perform>[1],
  { kind, address, keystoreFile }: NewAttesterKey,
): Promise<Attester> => {
  const attester = await tables.attesters.add({ kind, address, keystoreFile })
  note({ action: 'attester.add', subject: attester.id, organizationId: null, detail: { kind, address } })
  return attester
}

/** The key was made when it was asked for, so that what is approved is what was seen. */
export const performAddAttester: Perform = async (tables, note, _services, { detail }) => {
  await addAttester(tables, note, detail as unknown as NewAttesterKey)
}

const retireAttester = async (
  tables: Tables,
  note: Parameters<Perform>[1],
  attesterId: string,
  status: 'retiring' | 'retired',
): Promise<Attester> => {
  const before = await requireAttester(tables, attesterId)
  const all = await tables.attesters.list()
  const others = all.filter(({ id, kind, status: of }) => id !== before.id && kind === before.kind && of === 'active')
  if (before.status === 'active' && others.length === 0) {
    throw new ConflictError(`it is the only active ${before.kind} attester: add another first`)
  }
  const after = await tables.attesters.setStatus(before.id, status)
  if (after === null) throw new ConflictError('it is retired already')
  note({
    action: 'attester.retire',
    subject: before.id,
    organizationId: null,
    detail: { address: before.address, status: [before.status, after.status] },
  })
  return after
}

export const performRetireAttester: Perform = async (tables, note, _services, { subject, detail }) => {
  await retireAttester(tables, note, subject, detail['status'] === 'retired' ? 'retired' : 'retiring')
}

export const ATTESTER_ROUTES = [
  route('listAttesters', 'GET', '/attesters', {
    access: CALLER,
    summary: 'The keys that sign, oldest first',
    description: 'Their addresses are public: contracts know them.',
    answer: closed({ data: Type.Array(ATTESTER) }),
    handle: async ({ services }) => ({ data: (await services.store.attesters.list()).map(showAttester) }),
  }),
  route('addAttester', 'POST', '/attesters', {
    access: DEPLOYMENT,
    summary: 'Make an attester key',
    description:
      'Made on this machine and kept in an encrypted keystore. The oldest active key of a kind signs, so nothing changes ' +
      'until the old one retires. A running service loads it within a second.',
    body: closed({ kind: KIND }),
    status: 201,
    answer: ATTESTER,
    others: [AWAITS_APPROVAL],
    handle: async ({ services, actor, body, write }) => {
      const key = await services.createAttesterKey(body.kind)
      const { kind, address, keystoreFile } = key
      try {
        return await write(async (tables, note) => {
          if (!(await tables.organizationSettings.readDeploymentSecondPerson())) {
            return showAttester(await addAttester(tables, note, key))
          }
          const approval = await requestApproval(tables, note, actor, {
            organizationId: null,
            action: 'attester.add',
            subject: address,
            detail: { kind, address, keystoreFile },
          })
          return new Reply(202, await showApproval(tables.users, approval))
        })
      } catch (error) {
        // A keystore that nobody knows of would be an orphan.
        services.discardKeystore(keystoreFile)
        throw error
      }
    },
  }),
  route('retireAttester', 'POST', '/attesters/{attester}/retire', {
    access: DEPLOYMENT,
    summary: 'Stop signing with a key',
    description: '`final` loads it no more, for good. The last active key of a kind can’t retire.',
    body: closed({ final: Type.Optional(Type.Boolean()) }),
    answer: ATTESTER,
    others: [AWAITS_APPROVAL],
    errors: [409],
    handle: ({ actor, params, body, write }) =>
      write(async (tables, note) => {
        const status = body.final === true ? 'retired' : 'retiring'
        await requireAttester(tables, params.attester)
        if (!(await tables.organizationSettings.readDeploymentSecondPerson())) {
          return showAttester(await retireAttester(tables, note, params.attester, status))
        }
        const approval = await requestApproval(tables, note, actor, {
          organizationId: null,
          action: 'attester.retire',
          subject: params.attester,
          detail: { status },
        })
        return new Reply(202, await showApproval(tables.users, approval))
      }),
  }),
  route('inspectChains', 'GET', '/chain-checks', {
    access: DEPLOYMENT,
    summary: 'Ask every configured chain whether it is as it should be',
    description:
      'That each RPC URL answers and serves the chain, how far its clock is from this machine’s, that there is a registry ' +
      'and that it knows the attesters here. Takes as long as the chains do; empty where no chain has an RPC URL.',
    answer: closed({ data: Type.Array(CHAIN_FINDING) }),
    handle: async ({ services }) => ({
      data: (await services.inspectChains()).map(({ chain, check, subject, result, detail }) => ({
        ...{ chain, check, subject, result, detail },
      })),
    }),
  }),
]
