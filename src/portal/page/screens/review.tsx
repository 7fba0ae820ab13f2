import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FieldName } from '../../../domain/requirements.ts'
import type { EvidenceFields } from '../../../identity/evidence-types.ts'
import { previewOf } from '../documents/document-rows.tsx'
import { countryName, formatBytes, formatDate } from '../format.ts'
import { useMessages } from '../language.ts'
import type { Messages } from '../messages/english.ts'
import { problemText } from '../problem-text.ts'
import { type Step, type StepProps, stepsOf } from '../steps.ts'
import { Icon } from '../ui/icons.tsx'
import { Button, Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'
import { WalletRow } from '../wallets/wallet-row.tsx'

const shownValue = (name: FieldName, fields: EvidenceFields, messages: Messages): ComponentChildren => {
  const { locale, review } = messages
  if (name === 'birthDate') return fields.birthDate === undefined ? '' : formatDate(fields.birthDate, locale)
  if (name === 'country') return fields.country === undefined ? '' : countryName(fields.country, locale)
  if (name === 'owners') {
    return (
      <ul class="plain">
        {(fields.owners ?? []).map((owner) => (
          <li key={owner.name}>
            <bdi>{owner.name}</bdi>, {review.share(owner.sharePercent)}
          </li>
        ))}
      </ul>
    )
  }
  return <bdi>{fields[name] ?? ''}</bdi>
}

export const Review = ({ view, calls, apply, refresh, go, back }: StepProps) => {
  const messages = useMessages()
  const { review, parts, documents: documentWords, common, locale } = messages
  const { organization, requirements, wallets, documents, missing, agreement, asksDetails } = view
  const [fields, setFields] = useState<EvidenceFields | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const names = requirements.flatMap((requirement) => (requirement.part === 'field' ? [requirement.name] : []))
  const steps = stepsOf(view)

  useEffect(() => {
    let gone = false
    calls.fields().then(
      (read) => {
        if (!gone) setFields(read)
      },
      (error: unknown) => {
        if (!gone) setProblem(problemText(error, messages))
      },
    )
    return () => {
      gone = true
    }
  }, [calls, messages])

  const submit = async (): Promise<void> => {
    setBusy(true)
    setProblem(null)
    try {
      apply(await calls.submit())
    } catch (error) {
      setProblem(problemText(error, messages))
      // Another tab may have submitted the session, or a part is missing.
      refresh()
    } finally {
      setBusy(false)
    }
  }

  const part = (step: Step, title: string, children: ComponentChildren) => (
    <section class="card" aria-labelledby={`review-${step}`}>
      <div class="card-head">
        <h2 id={`review-${step}`}>{title}</h2>
        {steps.includes(step) && (
          <Button kind="quiet" icon="pen" aria-label={review.changeLabel(title)} onClick={() => go(step)}>
            {common.change}
          </Button>
        )}
      </div>
      {children}
    </section>
  )

  return (
    <Screen
      title={review.title}
      lead={review.lead(organization.name)}
      actions={
        <StepActions back={back} busy={busy} onNext={() => void submit()}>
          {busy ? review.submitting : review.submit(organization.name)}
        </StepActions>
      }
    >
      {missing.length > 0 && (
        <Notice tone="warn" title={review.missing}>
          <p>{common.listOf(missing.map((name) => parts[name]))}</p>
        </Notice>
      )}
      {part(
        'wallets',
        review.wallets,
        <ul class="wallet-rows">
          {wallets.map((wallet) => (
            <WalletRow key={wallet.id} wallet={wallet} />
          ))}
        </ul>,
      )}
      {part(
        'details',
        review.details,
        fields === null ? (
          <p class="waiting" role="status">
            <span class="spinner" aria-hidden="true" /> {common.loading}
          </p>
        ) : (
          <dl class="facts">
            {names.map((name) => (
              <div key={name}>
                <dt>{parts[name]}</dt>
                <dd>{shownValue(name, fields, messages)}</dd>
              </div>
            ))}
          </dl>
        ),
      )}
      {documents.length > 0 &&
        part(
          'documents',
          review.documents,
          <ul class="receipts">
            {documents.map((receipt) => {
              const preview = previewOf(receipt.id)
              return (
                <li class="receipt" key={receipt.id}>
                  {preview === null ? (
                    <span class="tile tile-plain">
                      <Icon name="document" size={20} />
                    </span>
                  ) : (
                    <img class="thumb" src={preview} alt="" width={48} height={48} />
                  )}
                  <span class="receipt-text">
                    <span>{parts[receipt.kind]}</span>
                    <small class="muted">
                      <bdi>{receipt.fileName}</bdi>, {formatBytes(receipt.byteLength, locale)}
                    </small>
                  </span>
                  <span class="badge badge-good">{documentWords.given}</span>
                </li>
              )
            })}
          </ul>,
        )}
      {part(
        'consent',
        review.sharing,
        <p class="with-icon">
          <Icon name={agreement?.shares === true ? 'share' : 'lock'} size={20} />
          {agreement?.shares === true ? review.sharesYes : review.sharesNo(organization.name)}
        </p>,
      )}
      {asksDetails &&
        part(
          'consent',
          review.detailsUse,
          <p>{agreement?.usesDetails === true ? review.detailsUsed : review.detailsUnused}</p>,
        )}
      {problem !== null && (
        <Notice tone="bad" urgent>
          <p>{problem}</p>
        </Notice>
      )}
      <p class="aside-note">{review.truth}</p>
    </Screen>
  )
}
