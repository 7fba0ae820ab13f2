// Continues on another device or in a wallet app. Links work once, so they are requested only when shown.
import { useEffect, useState } from 'preact/hooks'
import type { HandoverAnswer } from '../../contract.ts'
import type { SessionCalls } from '../api.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import { WALLET_APPS, type WalletApp } from '../wallets/apps.ts'
import { Icon } from './icons.tsx'
import { Button, Notice } from './parts.tsx'

type Handover = { readonly link: HandoverAnswer | null; readonly problem: string | null; readonly again: () => void }

const useHandover = (calls: Pick<SessionCalls, 'handover'>): Handover => {
  const messages = useMessages()
  const [link, setLink] = useState<HandoverAnswer | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let gone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    setProblem(null)
    calls.handover().then(
      (answer) => {
        if (gone) return
        setLink(answer)
        // Replaces the link before it expires.
        timer = setTimeout(
          () => setTurn((now) => now + 1),
          Math.max(30_000, answer.expiresAtSeconds * 1000 - Date.now() - 60_000),
        )
      },
      (error: unknown) => {
        if (!gone) setProblem(problemText(error, messages))
      },
    )
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [calls, turn])
  return { link, problem, again: () => setTurn((now) => now + 1) }
}

const Waiting = ({ handover }: { readonly handover: Handover }) => {
  const { common } = useMessages()
  return handover.problem === null ? (
    <p class="waiting" role="status">
      <span class="spinner" aria-hidden="true" /> {common.loading}
    </p>
  ) : (
    <Notice tone="bad" urgent>
      <p>{handover.problem}</p>
      <Button onClick={handover.again}>{common.tryAgain}</Button>
    </Notice>
  )
}

export const PhoneCode = ({ calls }: { readonly calls: SessionCalls }) => {
  const { wallets } = useMessages()
  const handover = useHandover(calls)
  if (handover.link === null) return <Waiting handover={handover} />
  return (
    <div class="phone-code">
      <img src={handover.link.qrCode} alt={wallets.onPhoneAlt} width={200} height={200} />
      <div>
        <p>{wallets.onPhoneText}</p>
        <p class="hint">{wallets.onPhoneExpires}</p>
      </div>
    </div>
  )
}

export const AppLinks = ({ calls, apps }: { readonly calls: SessionCalls; readonly apps: readonly WalletApp[] }) => {
  const { wallets } = useMessages()
  const handover = useHandover(calls)
  const [tapped, setTapped] = useState(false)
  // When the person returns, the link was used, or a new link is needed.
  useEffect(() => {
    if (!tapped) return
    const back = (): void => {
      if (document.visibilityState === 'visible') handover.again()
    }
    document.addEventListener('visibilitychange', back)
    return () => document.removeEventListener('visibilitychange', back)
  }, [tapped, handover.again])
  if (handover.link === null) return <Waiting handover={handover} />
  const { url } = handover.link
  return (
    <>
      <p class="hint">{wallets.openInText}</p>
      <ul class="app-links">
        {apps.map((app) => (
          <li key={app.name}>
            <a class="app-link" href={app.link(url)} rel="noopener noreferrer" onClick={() => setTapped(true)}>
              <span>{wallets.openInReady(app.name)}</span>
              <Icon name="external" size={18} />
            </a>
          </li>
        ))}
      </ul>
      {tapped && (
        <p class="hint" role="status">
          {wallets.opening}
        </p>
      )}
    </>
  )
}

export const appsFor = (family: 'evm' | 'solana' | null): readonly WalletApp[] =>
  WALLET_APPS.filter(({ families }) => family === null || families.includes(family))
