import { IDENTITY_PATHS } from '../identity/paths.ts'
import { ArgumentInvalidError } from './errors.ts'
import type {
  CheckType,
  RegisteredSession,
  RegisterRequest,
  SessionState,
  SessionStatus,
  SessionType,
  SessionWallet,
  VerifyRequest,
  WalletVerification,
} from './identity-types.ts'
import { type Fields, readFields, UUID_FORM } from './json-fields.ts'
import type { Answer } from './transport.ts'

const STATUSES: readonly SessionStatus[] = ['pending', 'submitted', 'completed', 'rejected', 'retry']
const CHECK_TYPES: readonly CheckType[] = ['kyc', 'kyb']
const URL_FORM = /^https?:\/\/\S+$/
const PNG_FORM = /^data:image\/png;base64,[A-Za-z0-9+/]+={0,2}$/

/** A session doesn't change after these statuses (spec, Events: client behavior). */
export const FINAL_STATUSES: ReadonlySet<SessionStatus> = new Set(['completed', 'rejected'])

const sessionType = (type: SessionType): SessionType => {
  if (type !== 'individual' && type !== 'business') {
    throw new ArgumentInvalidError('type', 'must be individual or business')
  }
  return type
}

export const registerPath = (type: SessionType, { size }: RegisterRequest): string => {
  if (size !== undefined && (!Number.isInteger(size) || size < 80 || size > 2000)) {
    throw new ArgumentInvalidError('size', 'must be a whole number from 80 to 2000')
  }
  const { path } =
    sessionType(type) === 'individual' ? IDENTITY_PATHS.registerIndividual : IDENTITY_PATHS.registerBusiness
  return size === undefined ? path : `${path}?size=${size}`
}

/** Returns undefined if there are no fields; no body is then sent. */
export const registerBody = ({ walletAddress, originUrl }: RegisterRequest): object | undefined =>
  walletAddress === undefined && originUrl === undefined ? undefined : { walletAddress, originUrl }

export const registerHeaders = ({ sandboxOutcome }: RegisterRequest): Readonly<Record<string, string>> =>
  sandboxOutcome === undefined ? {} : { 'countersign-sandbox-outcome': sandboxOutcome }

export const readRegisteredSession = ({ status, body, requestId }: Answer): RegisteredSession => {
  const fields = readFields(body, requestId)
  return {
    sessionId: fields.matching('sessionId', UUID_FORM),
    redirectUrl: fields.matching('redirectUrl', URL_FORM),
    qrCode: fields.matching('qrCode', PNG_FORM),
    reused: status === 200,
  }
}

export const statusPath = (kind: 'status' | 'stream', type: SessionType, sessionId: string): string => {
  if (!UUID_FORM.test(sessionId)) throw new ArgumentInvalidError('sessionId', 'must be a UUID')
  return IDENTITY_PATHS[kind].path.replace('{type}', sessionType(type)).replace('{sessionId}', sessionId)
}

const readWallet = (fields: Fields): SessionWallet => ({
  id: fields.text('id'),
  address: fields.text('address'),
  chain: fields.text('chain'),
})

export const readSessionState = ({ body, requestId }: Pick<Answer, 'body' | 'requestId'>): SessionState => {
  const fields = readFields(body, requestId)
  const userId = fields.nullableText('userId')
  const completedAt = fields.nullableText('completedAt')
  return {
    sessionId: fields.matching('sessionId', UUID_FORM),
    status: fields.one('status', STATUSES),
    ...(userId === null ? {} : { userId }),
    ...(completedAt === null ? {} : { completedAt }),
    verifiedWallets: fields.objects('verifiedWallets').map(readWallet),
    unverifiedWallets: fields.objects('unverifiedWallets').map(readWallet),
  }
}

export const verifyBody = ({ address, type, chain }: VerifyRequest): object => ({
  address,
  ...(type === undefined ? {} : { type: sessionType(type) }),
  ...(chain === undefined ? {} : { chain }),
})

export const readWalletVerification = ({ body, requestId }: Answer): WalletVerification => {
  const fields = readFields(body, requestId)
  return {
    address: fields.text('address'),
    verified: fields.flag('verified'),
    status: fields.has('status') ? fields.one('status', STATUSES) : null,
    userId: fields.nullableText('userId'),
    checkType: fields.has('checkType') ? fields.one('checkType', CHECK_TYPES) : null,
    verifiedAt: fields.nullableText('verifiedAt'),
    wallets: fields.has('wallets')
      ? fields.objects('wallets').map((wallet) => ({ address: wallet.text('address'), chain: wallet.text('chain') }))
      : [],
  }
}
