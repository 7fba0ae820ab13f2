import { formatWait } from '../../../pages/lengths.ts'
import type { SessionView } from '../../contract.ts'
import { useMessages } from '../language.ts'
import { isCorrecting } from '../steps.ts'
import { Icon, type IconName } from '../ui/icons.tsx'
import { Button, Notice, Screen } from '../ui/parts.tsx'
import { WalletRow } from '../wallets/wallet-row.tsx'

export interface OutcomeProps {
  readonly view: SessionView
  readonly onRetry: () => void
}

const EMBLEMS: Readonly<Record<string, { readonly icon: IconName; readonly tone: string }>> = {
  completed: { icon: 'check', tone: 'good' },
  submitted: { icon: 'hourglass', tone: 'info' },
  rejected: { icon: 'cross', tone: 'bad' },
  retry: { icon: 'turn', tone: 'warn' },
}

const Emblem = ({ status }: { readonly status: string }) => {
  const { icon, tone } = EMBLEMS[status] ?? { icon: 'info', tone: 'info' }
  return (
    <div class={`emblem emblem-${tone}`}>
      <Icon name={icon} size={40} />
    </div>
  )
}

/** The host is in ASCII, so that lookalike hosts are visible (threats row 16). */
const BackButton = ({ origin, primary }: { readonly origin: SessionView['origin']; readonly primary: boolean }) => {
  const { outcome } = useMessages()
  if (origin === null) return null
  return (
    <a class={`button button-${primary ? 'primary' : 'secondary'}`} href={origin.url} rel="noopener noreferrer">
      <span class="button-label">{outcome.goBack(origin.host)}</span>
      <Icon name="external" size={20} />
    </a>
  )
}

const Comment = ({ view }: { readonly view: SessionView }) => {
  const { outcome } = useMessages()
  return (
    <figure class="comment">
      <figcaption>{outcome.comment(view.organization.name)}</figcaption>
      <blockquote dir="auto">{view.comment ?? outcome.noComment}</blockquote>
    </figure>
  )
}

const Timeline = ({ waitSeconds }: { readonly waitSeconds: number | null }) => {
  const { outcome, welcome, common, locale } = useMessages()
  return (
    <section class="card" aria-labelledby="timeline">
      <h2 id="timeline">{outcome.timeline}</h2>
      <ol class="timeline">
        <li class="timeline-done">
          {outcome.timelineSent} <span class="sr-only">({common.done})</span>
        </li>
        <li class="timeline-now" aria-current="step">
          {outcome.timelineReview}
        </li>
        <li>{outcome.timelineResult}</li>
      </ol>
      <p class="hint">
        {waitSeconds !== null && welcome.waitUsual(formatWait(waitSeconds, locale))} {outcome.submittedFollow}
      </p>
    </section>
  )
}

export const Outcome = ({ view, onRetry }: OutcomeProps) => {
  const { outcome, parts } = useMessages()
  const { status, organization, origin, wallets, corrections, checkType } = view
  const { name } = organization
  const emblem = <Emblem status={status} />

  if (status === 'completed') {
    return (
      <Screen
        emblem={emblem}
        title={checkType === 'kyc' ? outcome.completedTitle : outcome.completedTitleBusiness}
        lead={outcome.completedText(name)}
        actions={origin !== null && <BackButton origin={origin} primary />}
      >
        {wallets.length > 0 && (
          <section class="card" aria-labelledby="verified-wallets">
            <h2 id="verified-wallets">{outcome.completedWallets}</h2>
            <ul class="wallet-rows">
              {wallets.map((wallet) => (
                <WalletRow key={wallet.id} wallet={wallet} />
              ))}
            </ul>
          </section>
        )}
      </Screen>
    )
  }
  if (status === 'rejected') {
    return (
      <Screen
        emblem={emblem}
        title={outcome.rejectedTitle}
        lead={outcome.rejectedText(name)}
        actions={origin !== null && <BackButton origin={origin} primary={false} />}
      >
        {view.comment !== null && <Comment view={view} />}
      </Screen>
    )
  }
  if (status === 'retry') {
    return (
      <Screen
        emblem={emblem}
        title={outcome.retryTitle}
        lead={outcome.retryText(name)}
        actions={
          <Button kind="primary" trailing="forward" onClick={onRetry}>
            {outcome.retryStart}
          </Button>
        }
      >
        <Comment view={view} />
        {isCorrecting(view) ? (
          <section class="card" aria-labelledby="corrections">
            <h2 id="corrections">{outcome.retryOnly}</h2>
            <ul class="corrections">
              {corrections.map((part) => (
                <li key={part}>
                  <Icon name="turn" size={18} /> {parts[part]}
                </li>
              ))}
            </ul>
          </section>
        ) : (
          <p>{outcome.retryAll}</p>
        )}
      </Screen>
    )
  }
  return (
    <Screen
      emblem={emblem}
      title={outcome.submittedTitle}
      lead={outcome.submittedText(name)}
      actions={origin !== null && <BackButton origin={origin} primary={false} />}
    >
      <Notice tone="warn" icon="lock" title={outcome.submittedNote}>
        <p>{outcome.submittedNoteText(name)}</p>
      </Notice>
      <Timeline waitSeconds={organization.usualWaitSeconds} />
    </Screen>
  )
}
