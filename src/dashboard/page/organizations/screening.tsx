// What counts as a hit on a list, what wallets are looked up with, and what a new hit does to who is verified.
import { call } from '../api/client.ts'
import type { ScreeningSettings } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CheckField, RadioField, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

type NewHit = ScreeningSettings['on_new_hit']

const THRESHOLD_MIN = 60
const THRESHOLD_MAX = 100
/** For a list of names that is empty on purpose. */
const NONE = 'none'

const CHOICES: readonly { readonly value: NewHit; readonly label: string; readonly hint: string }[] = [
  {
    value: 'review',
    label: 'Wait for a look',
    hint: 'They stay verified. The overview says so until someone decides.',
  },
  {
    value: 'retry',
    label: 'Send the person back',
    hint: 'They are not verified until they hand in again and pass.',
  },
  {
    value: 'revoke',
    label: 'Revoke at once',
    hint: 'The session is rejected, for good, also where the hit was wrong.',
  },
]

const wordOf = (action: NewHit): string => CHOICES.find(({ value }) => value === action)?.label ?? action
const textOf = (names: readonly string[] | null): string =>
  names === null ? '' : names.length === 0 ? NONE : names.join(', ')
const namesIn = (text: string): string[] | null => {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  return names.length === 0 ? null : names.length === 1 && names[0] === NONE ? [] : names
}
const wholeIn = (text: string): number | null => (/^-?[0-9]{1,15}$/.test(text.trim()) ? Number(text) : null)

const toValues = (settings: ScreeningSettings) => ({
  threshold: String(settings.threshold),
  onNewHit: settings.on_new_hit as string,
  lists: textOf(settings.address_lists),
  screeners: textOf(settings.screeners),
  score: settings.screener_score === null ? '' : String(settings.screener_score),
  again: settings.screeners_again,
})

type Values = ReturnType<typeof toValues>

const bodyOf = ({ threshold, onNewHit, lists, screeners, score, again }: Values) => ({
  threshold: Number(threshold),
  on_new_hit: onNewHit as NewHit,
  address_lists: namesIn(lists),
  screeners: namesIn(screeners),
  screener_score: score.trim() === '' ? null : Number(score),
  screeners_again: again,
})

const check = ({ threshold, score }: Values): Record<string, string> => {
  const lowest = wholeIn(threshold)
  const isRight = lowest !== null && lowest >= THRESHOLD_MIN && lowest <= THRESHOLD_MAX
  return {
    ...(isRight ? {} : { threshold: `A whole number, ${THRESHOLD_MIN} to ${THRESHOLD_MAX}.` }),
    ...(score.trim() === '' || wholeIn(score) !== null ? {} : { score: 'A whole number, or nothing.' }),
  }
}

interface ScreeningFormProps {
  readonly settings: ScreeningSettings
  readonly onChange: (settings: ScreeningSettings) => void
}

const ScreeningForm = ({ settings, onChange }: ScreeningFormProps) => {
  const { params } = useWorkplace()
  const form = useForm({
    check,
    initial: toValues(settings),
    fieldNames: { address_lists: 'lists', screener_score: 'score' },
    submit: async (values): Promise<void> => {
      const before: Record<string, unknown> = bodyOf(toValues(settings))
      const changes = Object.entries(bodyOf(values)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
      )
      if (changes.length > 0) {
        const changed = await call('PUT /organizations/{organization}/screening', {
          params,
          body: Object.fromEntries(changes),
        })
        onChange(changed)
        form.reset(toValues(changed))
      }
      say('Screening changed')
    },
  })
  const { onNewHit, lists, again } = form.values
  return (
    <form {...form.attributes} class="form">
      <RadioField
        legend="A new hit of somebody who is verified"
        name="onNewHit"
        value={onNewHit}
        onValue={(value) => form.set('onNewHit', value)}
        choices={CHOICES}
      />
      {onNewHit !== 'review' && lists.trim() === '' && (
        <Notice tone="warn" title="Every shared list counts">
          <p>Name below the lists whose wallets count. Otherwise a list of partners takes verifications away, too.</p>
        </Notice>
      )}
      <div class="form-row">
        <TextField
          {...form.text('threshold')}
          label="Lowest score of a hit"
          hint={`Of names: ${THRESHOLD_MIN} to ${THRESHOLD_MAX}.`}
          type="number"
          input={{ min: THRESHOLD_MIN, max: THRESHOLD_MAX, step: 1, inputMode: 'numeric' }}
        />
        <TextField
          {...form.text('score')}
          label="Score of a screener"
          optional
          hint="A wallet with this score or a higher one is a hit, too."
          input={{ inputMode: 'numeric' }}
        />
      </div>
      <TextField
        {...form.text('lists')}
        label="Lists of wallets"
        optional
        hint="Names, separated by commas. Empty: the shared lists of sanctioned people and your deny list."
      />
      <TextField
        {...form.text('screeners')}
        label="Screeners of wallets"
        optional
        hint={`Names, separated by commas. Empty: all that are configured; “${NONE}”: nobody is asked.`}
      />
      <CheckField
        label="Ask screeners again when a list changes"
        hint="Each change then sends a request for every verified wallet."
        checked={again}
        onChecked={(on) => form.set('again', on)}
      />
      <Problem error={form.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={form.busy}>
          Save the screening
        </Button>
      </div>
    </form>
  )
}

export const ScreeningCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params, path, may } = useWorkplace()
  const settings = useRead('GET /organizations/{organization}/screening', { params })
  return (
    <Card
      id="screening"
      title="Screening"
      text="Names and wallets are compared with lists when somebody hands in, and again when a list changes."
      actions={
        may('reviewer') && (
          <ButtonLink small href={path('/settings/thresholds')}>
            What another score would catch
          </ButtonLink>
        )
      }
    >
      <Loaded query={settings}>
        {(value) =>
          mayChange ? (
            <ScreeningForm settings={value} onChange={settings.set} />
          ) : (
            <Facts
              items={[
                ['A new hit of somebody who is verified', wordOf(value.on_new_hit)],
                ['Lowest score of a hit', String(value.threshold)],
                [
                  'Lists of wallets',
                  textOf(value.address_lists) || 'the shared lists of sanctioned people and the deny list',
                ],
                ['Screeners of wallets', textOf(value.screeners) || 'all that are configured'],
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
