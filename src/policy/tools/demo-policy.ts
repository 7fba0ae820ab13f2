// The policy of the quick start: one wallet is denied, so that both answers can be seen at once. It reads no optional
// field, so every request can be evaluated, on EVM chains and on Solana.

export const DEMO_POLICY = `name: Demo policy
description: Denies one wallet and allows the rest. Replace it before you rely on it.
default: allow
rules:
  - id: demo-denied-wallet
    deny: wallet.address == address("0x000000000000000000000000000000000000dEaD")
    code: DEMO_DENIED
    message: This wallet is denied by the demo policy.
`
