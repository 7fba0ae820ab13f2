import type { WalletView } from '../../contract.ts'
import { shortAddress } from '../format.ts'
import { useMessages } from '../language.ts'
import { Icon } from '../ui/icons.tsx'
import { CopyButton } from '../ui/parts.tsx'

interface WalletRowProps {
  readonly wallet: WalletView
  readonly onRemove?: () => void
  readonly busy?: boolean
}

export const WalletRow = ({ wallet, onRemove, busy = false }: WalletRowProps) => {
  const { wallets } = useMessages()
  const { address, chainTitle } = wallet
  return (
    <li class="wallet-row">
      <span class="tile tile-good">
        <Icon name="check" size={20} />
      </span>
      <span class="wallet-text">
        <bdi class="mono" title={address}>
          <span aria-hidden="true">{shortAddress(address)}</span>
          <span class="sr-only">{address}</span>
        </bdi>
        <span class="wallet-chain">{chainTitle}</span>
      </span>
      {onRemove === undefined ? (
        <CopyButton text={address} label={wallets.copyAddress} />
      ) : (
        <button
          type="button"
          class="icon-button"
          aria-label={wallets.removeLabel(shortAddress(address), chainTitle)}
          aria-disabled={busy}
          onClick={() => {
            if (!busy) onRemove()
          }}
        >
          <Icon name="trash" size={20} />
        </button>
      )}
    </li>
  )
}
