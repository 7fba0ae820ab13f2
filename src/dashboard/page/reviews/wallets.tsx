import type { SessionDetail } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Time } from '../ui/time.tsx'

type Wallet = SessionDetail['wallets'][number]

const PROOF_WORDS: Readonly<Record<NonNullable<Wallet['proof']>['kind'], string>> = {
  eip191: 'Signed by its key (EIP-191)',
  erc1271: 'Accepted by its contract (ERC-1271)',
  siws: 'Signed by its key (Solana)',
  sandbox: 'Not proved: connected by the sandbox',
}

const ProofOf = ({ wallet: { proof } }: { readonly wallet: Wallet }) =>
  proof === null ? (
    <span class="faint">No proof stored</span>
  ) : proof.kind === 'sandbox' ? (
    <span class="soft">{PROOF_WORDS.sandbox}</span>
  ) : (
    <details class="proof">
      <summary>{PROOF_WORDS[proof.kind]}</summary>
      <CodeBlock label="message" code={proof.message} />
      <p class="proof-signature">
        <span class="faint">Signature</span> <Copyable text={proof.signature} label="signature" />
      </p>
    </details>
  )

export const Wallets = ({ session }: { readonly session: SessionDetail }) => {
  const { path } = useWorkplace()
  return (
    <Card title="Wallets">
      {session.wallets.length === 0 ? (
        <p class="soft">No wallets connected.</p>
      ) : (
        <ul class="wallet-list">
          {session.wallets.map((wallet) => (
            <li key={wallet.id}>
              <p class="wallet-line">
                <Badge>{wallet.chain}</Badge> <Copyable text={wallet.address} label="address" />
                <span class="faint">
                  connected <Time at={wallet.connected_at} />
                </span>{' '}
                <a href={path(`/decisions/wallets/${wallet.address}`)}>View wallet</a>
              </p>
              <ProofOf wallet={wallet} />
            </li>
          ))}
        </ul>
      )}
      {session.wallet_address !== null && <p class="soft">This session is restricted to one wallet.</p>}
    </Card>
  )
}
