// Connects a wallet of this browser: accounts, choice of account and chain, signature, proof.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChainView, WalletView } from '../../contract.ts'
import type { ProofCalls } from '../api.ts'
import { shortAddress } from '../format.ts'
import { useMessages } from '../language.ts'
import type { Messages } from '../messages/english.ts'
import { problemText } from '../problem-text.ts'
import { Button, Notice } from '../ui/parts.tsx'
import { ChainField } from './chain-field.tsx'
import { type DetectedWallet, type WalletAccount, WalletFailedError, WalletRefusedError } from './wallet.ts'

interface ConnectPanelProps<Result> {
  readonly wallet: DetectedWallet
  readonly calls: ProofCalls<Result>
  readonly chains: readonly ChainView[]
  readonly connected: readonly WalletView[]
  readonly lockedWallet: string | null
  readonly onDone: (result: Result, address: string) => void
  readonly onClose: () => void
}

type Phase = 'connecting' | 'choosing' | 'signing' | 'checking' | 'failed'

const sameAddress = (one: string, other: string): boolean =>
  one.startsWith('0x') ? one.toLowerCase() === other.toLowerCase() : one === other

const walletProblem = (error: unknown, name: string, messages: Messages): string => {
  if (error instanceof WalletRefusedError) return messages.errors.refused(name)
  if (error instanceof WalletFailedError) return messages.errors.walletFailed(name)
  return problemText(error, messages)
}

/** Preselects the wallet's current chain, or the first chain without this wallet; null on Solana. */
const firstChain = (account: WalletAccount, chains: readonly ChainView[], connected: readonly WalletView[]) => {
  const taken = connected.filter(({ address }) => sameAddress(address, account.address)).map(({ chain }) => chain)
  const own = chains.find(({ chainId }) => chainId === account.chainId)
  if (own === undefined || !taken.includes(own.name)) return account.chainId
  return chains.find(({ name }) => !taken.includes(name))?.chainId ?? account.chainId
}

interface AccountFieldProps {
  readonly accounts: readonly WalletAccount[]
  readonly chosen: WalletAccount
  readonly isConnected: (address: string) => boolean
  readonly onChoose: (account: WalletAccount) => void
}

const AccountField = ({ accounts, chosen, isConnected, onChoose }: AccountFieldProps) => {
  const { wallets } = useMessages()
  if (accounts.length <= 1) {
    return (
      <p class="single-account">
        <span class="muted">{wallets.account}</span> <bdi class="mono">{shortAddress(chosen.address)}</bdi>
      </p>
    )
  }
  return (
    <fieldset class="accounts">
      <legend>{wallets.account}</legend>
      {accounts.map((account) => (
        <label class="choice" key={account.address}>
          <input
            type="radio"
            name="account"
            checked={account.address === chosen.address}
            onChange={() => onChoose(account)}
          />
          <span>
            <bdi class="mono">{shortAddress(account.address)}</bdi>
            {isConnected(account.address) && <small class="muted"> · {wallets.already}</small>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export const ConnectPanel = <Result,>(props: ConnectPanelProps<Result>) => {
  const { wallet, calls, chains, connected, lockedWallet, onDone, onClose } = props
  const messages = useMessages()
  const { wallets, common } = messages
  const [phase, setPhase] = useState<Phase>('connecting')
  const [accounts, setAccounts] = useState<readonly WalletAccount[]>([])
  const [chosen, setChosen] = useState<WalletAccount | null>(null)
  const [chainId, setChainId] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const panel = useRef<HTMLElement>(null)
  const gone = useRef(false)

  const choose = (account: WalletAccount): void => {
    setChosen(account)
    setChainId(firstChain(account, chains, connected))
  }

  const fail = (text: string, next: Phase): void => {
    if (gone.current) return
    setProblem(text)
    setPhase(next)
  }

  const connect = async (): Promise<void> => {
    setPhase('connecting')
    setProblem(null)
    try {
      const found = await wallet.connect()
      if (gone.current) return
      const usable = lockedWallet === null ? found : found.filter(({ address }) => sameAddress(address, lockedWallet))
      const [first] = usable
      if (first === undefined) {
        const isOther = lockedWallet !== null && found.length > 0
        return fail(isOther ? wallets.wrongAccount(shortAddress(lockedWallet)) : wallets.noAccounts, 'failed')
      }
      setAccounts(usable)
      choose(first)
      setPhase('choosing')
    } catch (error) {
      fail(walletProblem(error, wallet.name, messages), 'failed')
    }
  }

  const sign = async (): Promise<void> => {
    if (chosen === null) return
    setPhase('signing')
    setProblem(null)
    try {
      const { nonce, message, address } = await calls.challenge({ address: chosen.address, chainId })
      const signature = await wallet.sign(wallet.family === 'evm' ? chosen.address : address, message)
      if (gone.current) return
      setPhase('checking')
      onDone(await calls.prove(nonce, signature), address)
    } catch (error) {
      fail(walletProblem(error, wallet.name, messages), 'choosing')
    }
  }

  useEffect(() => {
    gone.current = false
    panel.current?.focus({ preventScroll: false })
    void connect()
    return () => {
      gone.current = true
    }
  }, [])

  const own = chosen?.chainId ?? null
  const options =
    own === null || chains.some((chain) => chain.chainId === own)
      ? chains
      : [{ name: '', title: wallets.chainOther(own), chainId: own }, ...chains]
  const chainName =
    wallet.family === 'solana' ? wallet.family : (chains.find((chain) => chain.chainId === chainId)?.name ?? '')
  const isConnected = (address: string): boolean =>
    connected.some((known) => known.chain === chainName && sameAddress(known.address, address))

  return (
    <section class="panel" ref={panel} tabIndex={-1} aria-label={wallet.name}>
      {phase === 'connecting' && (
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {wallets.waiting(wallet.name)}
        </p>
      )}
      {problem !== null && (
        <Notice tone="bad" urgent>
          <p>{problem}</p>
        </Notice>
      )}
      {phase !== 'connecting' && phase !== 'failed' && chosen !== null && (
        <>
          <AccountField accounts={accounts} chosen={chosen} isConnected={isConnected} onChoose={choose} />
          {wallet.family === 'evm' && options.length > 1 && (
            <ChainField
              id="connect-chain"
              label={wallets.chain}
              chains={options}
              chainId={chainId}
              onChange={setChainId}
            />
          )}
          <p class="hint">{isConnected(chosen.address) ? wallets.already : wallets.signText}</p>
        </>
      )}
      <div class="panel-actions">
        {phase === 'failed' && (
          <Button kind="primary" onClick={() => void connect()}>
            {common.tryAgain}
          </Button>
        )}
        {phase !== 'connecting' && phase !== 'failed' && chosen !== null && (
          <Button
            kind="primary"
            icon="pen"
            busy={phase !== 'choosing'}
            disabled={isConnected(chosen.address)}
            onClick={() => void sign()}
          >
            {phase === 'signing'
              ? wallets.signing(wallet.name)
              : phase === 'checking'
                ? wallets.checking
                : wallets.sign(wallet.name)}
          </Button>
        )}
        <Button kind="quiet" onClick={onClose}>
          {common.cancel}
        </Button>
      </div>
    </section>
  )
}
