// No data is accepted before consent, which is recorded with the version of the text.
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatDays } from '../../../pages/lengths.ts'
import { useMessages, useSpeech } from '../language.ts'
import { problemText } from '../problem-text.ts'
import type { StepProps } from '../steps.ts'
import { Icon, ItemWithIcon } from '../ui/icons.tsx'
import { Button, Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'

/** Purpose, readers and retention of the data. */
const UseOfData = ({ view: { organization, requirements } }: Pick<StepProps, 'view'>) => {
  const messages = useMessages()
  const { consent, partsInline, common } = messages
  const items = requirements.map(
    (requirement) => partsInline[requirement.part === 'field' ? requirement.name : requirement.kind],
  )
  const { completed, rejected, abandoned } = organization.keptDays
  const days = {
    completed: formatDays(completed, messages.locale),
    rejected: formatDays(rejected, messages.locale),
    abandoned: formatDays(abandoned, messages.locale),
  }
  return (
    <section class="card">
      <ul class="items">
        <ItemWithIcon icon="document" title={consent.collected}>
          {consent.collectedText(common.listOf(items))}
        </ItemWithIcon>
        <ItemWithIcon icon="eye" title={consent.seen}>
          {consent.seenText(organization.name)}
        </ItemWithIcon>
        <ItemWithIcon icon="target" title={consent.used}>
          {consent.usedText(organization.name)}
        </ItemWithIcon>
        <ItemWithIcon icon="hourglass" title={consent.kept}>
          {consent.keptText(organization.name, days.completed, days.rejected, days.abandoned)}
        </ItemWithIcon>
      </ul>
      {organization.privacyUrl !== null && (
        <p>
          <a href={organization.privacyUrl} target="_blank" rel="noopener noreferrer">
            {common.privacy(organization.name)}
          </a>
        </p>
      )}
    </section>
  )
}

export const Consent = ({ view, calls, apply, refresh, next, back }: StepProps) => {
  const { messages, language } = useSpeech()
  const { consent } = messages
  const { organization, agreement, agreementVersion, asksDetails } = view
  const [shares, setShares] = useState<boolean | null>(agreement?.shares ?? null)
  const [usesDetails, setUsesDetails] = useState(agreement?.usesDetails ?? false)
  const [attempts, setAttempts] = useState(0)
  const choices = useRef<HTMLFieldSetElement>(null)
  const [declined, setDeclined] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const choiceWrong = attempts > 0 && shares === null
  useEffect(() => {
    if (!choiceWrong) return
    choices.current?.querySelector('input')?.focus({ preventScroll: true })
    choices.current?.scrollIntoView({ block: 'center' })
  }, [attempts])

  const agree = async (): Promise<void> => {
    setAttempts(attempts + 1)
    setDeclined(false)
    if (shares === null) return
    setBusy(true)
    setProblem(null)
    try {
      const after = await calls.agree({ version: agreementVersion, language, shares, usesDetails })
      apply(after)
      next(after)
    } catch (error) {
      setProblem(problemText(error, messages))
      refresh()
    } finally {
      setBusy(false)
    }
  }

  const choice = (value: boolean, id: string, label: string) => (
    <label class="choice" for={id}>
      <input
        type="radio"
        name="shares"
        id={id}
        checked={shares === value}
        aria-describedby={choiceWrong ? 'share-error' : undefined}
        onChange={() => setShares(value)}
      />
      <span>{label}</span>
    </label>
  )

  return (
    <Screen
      title={consent.title}
      lead={consent.lead(organization.name)}
      actions={
        <StepActions back={back} busy={busy} onNext={() => void agree()}>
          {consent.agree}
        </StepActions>
      }
    >
      <UseOfData view={view} />
      <fieldset ref={choices} class={`card choices${choiceWrong ? ' field-wrong' : ''}`}>
        <legend>{consent.shareTitle}</legend>
        <p class="hint">{consent.shareText}</p>
        {choice(true, 'share-yes', consent.shareYes)}
        {choice(false, 'share-no', consent.shareNo(organization.name))}
        {choiceWrong && (
          <p class="error" id="share-error" role="alert">
            <Icon name="alert" size={18} />
            {consent.shareMissing}
          </p>
        )}
      </fieldset>
      {asksDetails && (
        <fieldset class="card choices">
          <legend>{consent.detailsTitle}</legend>
          <label class="choice" for="uses-details">
            <input
              type="checkbox"
              id="uses-details"
              checked={usesDetails}
              aria-describedby="uses-details-hint"
              onChange={({ currentTarget }) => setUsesDetails(currentTarget.checked)}
            />
            <span>{consent.details}</span>
          </label>
          <p class="hint" id="uses-details-hint">
            {consent.detailsText(organization.name)}
          </p>
        </fieldset>
      )}
      {problem !== null && (
        <Notice tone="bad" urgent>
          <p>{problem}</p>
        </Notice>
      )}
      {declined ? (
        <Notice title={consent.disagreeTitle} urgent>
          <p>{consent.disagreeText(organization.name)}</p>
        </Notice>
      ) : (
        <p class="centered">
          <Button kind="quiet" onClick={() => setDeclined(true)}>
            {consent.disagree}
          </Button>
        </p>
      )}
      <p class="fine">{consent.version(`${agreementVersion}.${language}`)}</p>
    </Screen>
  )
}
