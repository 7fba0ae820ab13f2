// Connects wallets that this browser can't access, such as hardware or contract wallets: the person pastes a signature.
import { useState } from 'preact/hooks'
import type { ChainView, ChallengeAnswer } from '../../contract.ts'
import { type ProofCalls, RefusedError } from '../api.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import { Button, CopyButton, Field, Notice } from '../ui/parts.tsx'
import { ChainField } from './chain-field.tsx'

export interface ManualWayProps<Result> {
  readonly calls: ProofCalls<Result>
  readonly chains: readonly ChainView[]
  readonly contractChains: readonly string[]
  readonly lockedWallet: string | null
  readonly onDone: (result: Result, address: string) => void
}

const looksEvm = (text: string): boolean => /^0x/i.test(text.trim())

const MessageToSign = ({ challenge }: { readonly challenge: ChallengeAnswer }) => {
  const { manual } = useMessages()
  const minutes = Math.max(1, Math.round((challenge.expiresAtSeconds - Date.now() / 1000) / 60))
  return (
    <>
      <p>{manual.messageText}</p>
      <div class="message-box">
        <p class="mono message" id="manual-message">
          {challenge.message}
        </p>
        <CopyButton text={challenge.message} />
      </div>
      <p class="hint">{manual.expires(minutes)}</p>
    </>
  )
}

export const ManualWay = <Result,>(props: ManualWayProps<Result>) => {
  const { calls, chains, contractChains, lockedWallet, onDone } = props
  const messages = useMessages()
  const { manual, errors, common } = messages
  const [address, setAddress] = useState(lockedWallet ?? '')
  const [chainId, setChainId] = useState(chains[0]?.chainId ?? 1)
  const [challenge, setChallenge] = useState<ChallengeAnswer | null>(null)
  const [signature, setSignature] = useState('')
  const [busy, setBusy] = useState(false)
  const [addressError, setAddressError] = useState<string | undefined>(undefined)
  const [signatureError, setSignatureError] = useState<string | undefined>(undefined)
  const evm = looksEvm(address)

  const ask = async (): Promise<void> => {
    if (address.trim() === '') {
      setAddressError(errors.addressMissing)
      return
    }
    setBusy(true)
    setAddressError(undefined)
    try {
      setChallenge(await calls.challenge({ address: address.trim(), chainId: evm ? chainId : null }))
    } catch (error) {
      const malformed = error instanceof RefusedError && error.reason === 'field-invalid'
      setAddressError(malformed ? errors.address : problemText(error, messages))
    } finally {
      setBusy(false)
    }
  }

  const prove = async (asked: ChallengeAnswer): Promise<void> => {
    if (signature.trim() === '') {
      setSignatureError(errors.signatureMissing)
      return
    }
    setBusy(true)
    setSignatureError(undefined)
    try {
      const result = await calls.prove(asked.nonce, signature.trim())
      onDone(result, asked.address)
    } catch (error) {
      setSignatureError(problemText(error, messages))
    } finally {
      setBusy(false)
    }
  }

  if (challenge === null) {
    return (
      <form
        class="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <Field id="manual-address" label={manual.address} hint={manual.addressHint} error={addressError}>
          {(attributes) => (
            <input
              {...attributes}
              class="mono"
              type="text"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={address}
              readOnly={lockedWallet !== null}
              onInput={(event) => setAddress(event.currentTarget.value)}
            />
          )}
        </Field>
        {evm && (
          <ChainField id="manual-chain" label={manual.chain} chains={chains} chainId={chainId} onChange={setChainId} />
        )}
        <p class="hint">
          {contractChains.length === 0 ? manual.noContract : manual.contract(common.listOf(contractChains))}
        </p>
        <div class="panel-actions">
          <Button kind="primary" submit busy={busy}>
            {manual.getMessage}
          </Button>
        </div>
      </form>
    )
  }

  return (
    <form
      class="panel"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void prove(challenge)
      }}
    >
      <MessageToSign challenge={challenge} />
      <Field
        id="manual-signature"
        label={manual.signature}
        hint={evm ? manual.signatureHint.evm : manual.signatureHint.solana}
        error={signatureError}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="mono"
            rows={4}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={signature}
            onInput={(event) => setSignature(event.currentTarget.value)}
          />
        )}
      </Field>
      {signatureError !== undefined && (
        <Notice tone="warn">
          <p>
            <Button
              kind="quiet"
              onClick={() => {
                setChallenge(null)
                setSignature('')
                setSignatureError(undefined)
              }}
            >
              {manual.startOver}
            </Button>
          </p>
        </Notice>
      )}
      <div class="panel-actions">
        <Button kind="primary" submit busy={busy}>
          {manual.check}
        </Button>
        {signatureError === undefined && (
          <Button kind="quiet" onClick={() => setChallenge(null)}>
            {common.back}
          </Button>
        )}
      </div>
    </form>
  )
}
