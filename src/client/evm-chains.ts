// The EIP-155 ids of the service's EVM chains, which are part of what is signed. A deployment may have chains of its own:
// for those, name the id.

/** By the name that requests carry. */
export const EVM_CHAIN_IDS: Readonly<Record<string, number>> = {
  ethereum: 1,
  base: 8453,
  arbitrum: 42161,
  hyperliquid: 999,
  plume: 98866,
  bsc: 56,
  plasma: 9745,
  worldchain: 480,
  sepolia: 11155111,
  megaeth: 4326,
  'megaeth-testnet': 6343,
}
