// Example responses from the spec, one of each kind.

export const UUID = '0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10'
export const SIGNATURE = `0x${'ab'.repeat(65)}`
export const ATTESTER = '0x8bE4baC46fc9d5fEc816DA027BAAEAabB5AcB5eB'
export const WALLET = '0x1111111111111111111111111111111111111111'

export const compliant = {
  policy_id: 'policy_VoCswRuUbd2MhG0h',
  policy_name: 'Demo policy',
  verification_hash: 'x-3f9d7c0a8be14d5c96a1f0e27b4c8d13',
  is_compliant: true,
  attestation: { uuid: UUID, expiration: 1795169702, attester: ATTESTER, signature: SIGNATURE },
}

export const denied = {
  ...compliant,
  is_compliant: false,
  attestation: { uuid: UUID, expiration: 0, attester: '', signature: '' },
  reason: { code: 'DEMO_DENIED', message: 'This wallet is denied.' },
}

export const task = {
  is_compliant: true,
  signers: [WALLET, ATTESTER],
  signature: [SIGNATURE, SIGNATURE],
  expiry_block: 19_000_000,
  task_id: UUID,
}

export const deniedTask = { is_compliant: false, signers: [], signature: [], expiry_block: 0, task_id: UUID }

export const registered = {
  sessionId: UUID,
  redirectUrl: 'https://verify.example/v/AAAA',
  qrCode: 'data:image/png;base64,iVBORw0KGgo=',
}

export const pending = {
  sessionId: UUID,
  status: 'pending',
  verifiedWallets: [],
  unverifiedWallets: [{ id: 'wallet_1', address: WALLET, chain: 'base' }],
}

export const completed = {
  sessionId: UUID,
  status: 'completed',
  userId: 'user_1',
  completedAt: '2026-11-20T10:00:00.000Z',
  verifiedWallets: [{ id: 'wallet_1', address: WALLET, chain: 'base' }],
  unverifiedWallets: [],
}

export const verified = {
  address: WALLET,
  verified: true,
  status: 'completed',
  userId: 'user_1',
  checkType: 'kyc',
  verifiedAt: '2026-11-20T10:00:00.000Z',
  wallets: [{ address: WALLET, chain: 'base' }],
}
