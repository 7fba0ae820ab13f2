// Signing keys and their state on the chains. Keystore keys are created on this machine; token keys already exist in
// the hardware token.
import { DependencyUnavailableError, FieldInvalidError } from '../../domain/errors.ts'
import { isTokenKey, tokenKeyOf } from '../../signing/token-key.ts'
import { ASK_TOKEN } from '../../signing/token-service.ts'
import { StoreUnavailableError } from '../../store/errors.ts'
import type { Attester } from '../../store/organizations/attesters.ts'
import type { Tables } from '../../store/store.ts'
import { ConflictError, requireFound } from '../errors.ts'
import { CALLER, DEPLOYMENT, declareRoutes, type Note } from '../route.ts'
import { closed, named, oneOf, Type, time } from '../schema.ts'
import { AwaitsApproval } from '../second-person/guard.ts'
import type { NewAttesterKey, Services } from '../services.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Attesters')

const KIND = oneOf(['secp256k1', 'ed25519'], 'secp256k1 for EVM chains, Ed25519 for Solana')

const ATTESTER = named(
  'Attester',
  closed({
    id: Type.String(),
    kind: KIND,
    address: Type.String({ description: 'EIP-55 address, or base58 public key' }),
    token_key: Type.Union([Type.String(), Type.Null()], {
      description: 'PKCS#11 URI of the key in the hardware token; null if the key is in a keystore',
    }),
    keystore_file: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the keystore; null if the key is in a hardware token',
    }),
    status: oneOf(['active', 'retiring', 'retired'], 'Active keys sign; retired keys are never loaded again'),
    created_at: time(),
  }),
  ['address', 'kind', 'status', 'created_at', 'token_key'],
)

const CHAIN_FINDING = named(
  'ChainFinding',
  closed({
    chain: Type.String(),
    check: oneOf(['rpc', 'clock', 'registry', 'attester']),
    subject: Type.String({ description: 'Host of an RPC URL, or address of the registry or attester' }),
    result: oneOf(['ok', 'note', 'problem'], '`problem`: attestations fail or are refused'),
    detail: Type.String(),
  }),
)

const showAttester = (attester: Attester) => {
  const { keystoreFile: key } = attester
  return shown(
    ATTESTER,
    attester,
    isTokenKey(key) ? { token_key: key, keystore_file: null } : { token_key: null, keystore_file: key },
  )
}

/** Tests a token's key with one signature. @throws FieldInvalidError for `token_key`, DependencyUnavailableError */
const findTokenKey = async (
  { findService }: Pick<Services, 'findService'>,
  kind: NewAttesterKey['kind'],
  given: string,
): Promise<NewAttesterKey> => {
  const key = tokenKeyOf(given)
  if (key === null) throw new FieldInvalidError('token_key', 'must be a label, or a pkcs11: URI with object or id')
  const ask = findService(ASK_TOKEN)
  if (ask === null)
    throw new FieldInvalidError('token_key', 'can’t be used, because hardware keys are disabled in this deployment')
  const [finding] = await ask([{ kind, key, address: null }])
  if (finding?.ok === true) return { kind, address: finding.address, keystoreFile: key }
  const { name, detail } = finding ?? { name: 'TokenUnavailableError', detail: 'the token does not respond' }
  if (name === 'TokenUnavailableError') throw new DependencyUnavailableError(detail)
  throw new FieldInvalidError('token_key', `can’t be used: ${detail}`)
}

const requireAttester = async (tables: Tables, attesterId: string): Promise<Attester> =>
  requireFound(await tables.attesters.find(attesterId), 'attester')

const addAttester = async (
  tables: Tables,
  note: Note,
  { kind, address, keystoreFile }: NewAttesterKey,
): Promise<Attester> => {
  const attester = await tables.attesters.add({ kind, address, keystoreFile })
  const detail = isTokenKey(keystoreFile) ? { kind, address, token_key: keystoreFile } : { kind, address }
  note({ action: 'attester.add', subject: attester.id, organizationId: null, detail })
  return attester
}

/**
 * Returns the oldest other active key of the kind, which signs next; null if there is none, or if the key is inactive.
 */
const successorOf = async ({ attesters }: Pick<Tables, 'attesters'>, attesterId: string): Promise<Attester | null> => {
  const all = await attesters.list()
  const before = all.find(({ id }) => id === attesterId)
  if (before?.status !== 'active') return null
  return all.find(({ id, kind, status }) => id !== attesterId && kind === before.kind && status === 'active') ?? null
}

/**
 * Returns null if there is no successor. Ignores unreadable chains. @throws ConflictError if the successor is
 * unregistered on a chain
 */
const requireRegisteredSuccessor = async (services: Services, attesterId: string): Promise<string | null> => {
  const successor = await successorOf(services.store, attesterId)
  if (successor === null) return null
  const refusing = (await services.inspectChains())
    .filter(
      ({ check, subject, result }) => check === 'attester' && result === 'problem' && subject === successor.address,
    )
    .map(({ chain }) => chain)
  if (refusing.length === 0) return successor.id
  throw new ConflictError(
    `the next key, ${successor.address}, is not registered on ${refusing.join(', ')}: register it first, or retire the attester with final`,
  )
}

const retireAttester = async (
  tables: Tables,
  note: Note,
  attesterId: string,
  status: 'retiring' | 'retired',
): Promise<Attester> => {
  const before = await requireAttester(tables, attesterId)
  if (before.status === 'active' && (await successorOf(tables, before.id)) === null) {
    throw new ConflictError(`this is the only active ${before.kind} attester: add another attester first`)
  }
  const after = await tables.attesters.setStatus(before.id, status)
  if (after === null) throw new ConflictError('the attester is already retired')
  note({
    action: 'attester.retire',
    subject: before.id,
    organizationId: null,
    detail: { address: before.address, status: [before.status, after.status] },
  })
  return after
}

const retiredStatus = ({ final }: { readonly final?: boolean }) => (final === true ? 'retired' : 'retiring')

/** Keeps the keystore if an attester or approval refers to it, or if the store is unavailable. */
const discardUnknownKeystore = async (
  services: Services,
  { address, keystoreFile }: NewAttesterKey,
  error: unknown,
): Promise<void> => {
  if (error instanceof StoreUnavailableError) return
  const { attesters, approvals } = services.store
  const isKnown = async (): Promise<boolean> =>
    (await attesters.list()).some((attester) => attester.keystoreFile === keystoreFile) ||
    (await approvals.isRequested(null, 'attester.add', address))
  if (!(await isKnown().catch(() => true))) services.discardKeystore(keystoreFile)
}

/** Operations for commands, which read the key from a file and create its keystore. Requests never contain keys. */
export const ATTESTER_COMMANDS = [
  route('importAttester', 'POST', '/attesters/import', {
    access: DEPLOYMENT,
    command: false,
    summary: 'Add a key whose keystore was created on this machine',
    body: closed({
      kind: KIND,
      address: Type.String({ maxLength: 100 }),
      keystore_file: Type.String({ maxLength: 200 }),
    }),
    status: 201,
    answer: ATTESTER,
    secondPerson: {
      action: 'attester.add',
      see: async (_tables, { body: { kind, address } }) => ({
        subject: address,
        name: `${address} (${kind})`,
        changes: [{ what: 'status', before: null, after: 'active' }],
      }),
    },
    handle: ({ body: { kind, address, keystore_file: keystoreFile }, write }) =>
      write(async (tables, note) => showAttester(await addAttester(tables, note, { kind, address, keystoreFile }))),
  }),
]

export const ATTESTER_ROUTES = [
  route('listAttesters', 'GET', '/attesters', {
    access: CALLER,
    summary: 'List the attester keys, oldest first',
    description: 'Addresses are public: registries contain them.',
    answer: closed({ data: Type.Array(ATTESTER) }),
    handle: async ({ services }) => ({ data: (await services.store.attesters.list()).map(showAttester) }),
  }),
  route('addAttester', 'POST', '/attesters', {
    access: DEPLOYMENT,
    command: { fields: { token_key: { option: 'pkcs11' } } },
    summary: 'Create an attester key, or add a key from the hardware token',
    description:
      'The key is created on this machine and stored in an encrypted keystore. With `token_key`, a key in the configured hardware token is used instead. The oldest active key of a kind signs, so the new key is not used until the old key is retired. A running service loads the new key within a second.',
    body: closed({
      kind: KIND,
      token_key: Type.Optional(
        Type.String({ minLength: 1, maxLength: 500, description: 'Label or PKCS#11 URI of the key in the token' }),
      ),
    }),
    status: 201,
    answer: ATTESTER,
    secondPerson: {
      action: 'attester.add',
      see: async (_tables, { kept }) => {
        const { kind, address, keystoreFile } = kept as NewAttesterKey
        return {
          subject: address,
          name: isTokenKey(keystoreFile) ? `${address} (${kind}, ${keystoreFile})` : `${address} (${kind})`,
          changes: [{ what: 'status', before: null, after: 'active' }],
        }
      },
      kept: { discard: (services, key) => services.discardKeystore((key as NewAttesterKey).keystoreFile) },
    },
    handle: async ({ services, body, kept, write }) => {
      const { kind, token_key: tokenKey } = body
      const key =
        (kept as NewAttesterKey | null) ??
        (await (tokenKey === undefined ? services.createAttesterKey(kind) : findTokenKey(services, kind, tokenKey)))
      try {
        return await write(async (tables, note) => showAttester(await addAttester(tables, note, key)), key)
      } catch (error) {
        // A change that awaits approval needs the keystore.
        if (kept === null && !(error instanceof AwaitsApproval)) await discardUnknownKeystore(services, key, error)
        throw error
      }
    },
  }),
  route('retireAttester', 'POST', '/attesters/{attester}/retire', {
    access: DEPLOYMENT,
    command: { irreversible: true, fields: { attester: { find: { in: 'listAttesters', by: ['id', 'address'] } } } },
    summary: 'Stop signing with a key',
    description:
      'The next key must be registered on each chain with a registry. With `final`, the retired key is never loaded again, and registrations are not checked. The last active key of a kind cannot be retired.',
    body: closed({
      final: Type.Optional(Type.Boolean({ description: 'Never load the key again. This cannot be undone' })),
    }),
    answer: ATTESTER,
    errors: [409],
    secondPerson: {
      action: 'attester.retire',
      see: async (tables, { params, body }) => {
        const { id, kind, address, status } = await requireAttester(tables, params.attester)
        return {
          subject: id,
          name: `${address} (${kind})`,
          changes: [{ what: 'status', before: status, after: retiredStatus(body) }],
          basis: (await successorOf(tables, id))?.id ?? null,
        }
      },
    },
    handle: async ({ services, params, body, write }) => {
      // A compromised key must be retired immediately.
      const isChecked = body.final !== true
      const checked = isChecked ? await requireRegisteredSuccessor(services, params.attester) : null
      return write(async (tables, note) => {
        if (isChecked && ((await successorOf(tables, params.attester))?.id ?? null) !== checked) {
          throw new ConflictError('the attesters have changed: retry')
        }
        return showAttester(await retireAttester(tables, note, params.attester, retiredStatus(body)))
      })
    },
  }),
  route('inspectChains', 'GET', '/chain-checks', {
    access: DEPLOYMENT,
    summary: 'Check all configured chains',
    description:
      'Checks that each RPC URL responds and serves the chain, that the chain’s clock matches this machine’s, and that the registry exists and contains these attesters. Waits for all chains. Empty if no chain has an RPC URL.',
    answer: closed({ data: Type.Array(CHAIN_FINDING) }),
    handle: async ({ services }) => ({
      data: (await services.inspectChains()).map(({ chain, check, subject, result, detail }) => ({
        chain,
        check,
        subject,
        result,
        detail,
      })),
    }),
  }),
]
