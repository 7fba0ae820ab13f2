// A software authenticator with an ES256 passkey. Source: W3C Web Authentication, level 3, sections 6.1 (authenticator data),
// 6.5 (attestation "none"), 5.8.1 (client data); RFC 8949.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>

const head = (major: number, length: number): Buffer => {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}

const encode = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [encode(key), encode(item)])])
}

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

const PRESENT = 0x01
const VERIFIED = 0x04
const ATTESTED = 0x40

export interface SoftwareAuthenticator {
  readonly id: string
  /** Result of navigator.credentials.create as JSON. */
  create(challenge: string, origin: string, site: string): Record<string, unknown>
  /** Result of navigator.credentials.get as JSON. */
  get(
    challenge: string,
    origin: string,
    site: string,
    changes?: { readonly verified?: boolean; readonly count?: number },
  ): Record<string, unknown>
}

export const createSoftwareAuthenticator = (): SoftwareAuthenticator => {
  const { publicKey, privateKey: signer } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' }) as { x?: string; y?: string }
  const id = randomBytes(16)
  let used = 0
  // COSE: EC2, ES256, P-256.
  const cose = encode(
    new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  )
  const data = (site: string, flags: number, count: number, attested: Uint8Array = new Uint8Array(0)): Buffer => {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count)
    return Buffer.concat([sha256(site), Buffer.from([flags]), counter, attested])
  }
  const clientData = (type: string, challenge: string, origin: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  const credential = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    id: base64url(id),
    create: (challenge, origin, site) => {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const attestation = encode(
        new Map<string, Cbor>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', data(site, PRESENT | VERIFIED | ATTESTED, 0, attested)],
        ]),
      )
      return credential({
        clientDataJSON: base64url(clientData('webauthn.create', challenge, origin)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      })
    },
    get: (challenge, origin, site, { verified = true, count } = {}) => {
      used = count ?? used + 1
      const authData = data(site, PRESENT | (verified ? VERIFIED : 0), used)
      const client = clientData('webauthn.get', challenge, origin)
      const signed = Buffer.concat([authData, sha256(client)])
      return credential({
        authenticatorData: base64url(authData),
        clientDataJSON: base64url(client),
        signature: base64url(createSign('sha256').update(signed).sign(signer)),
      })
    },
  }
}
