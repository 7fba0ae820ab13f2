// Search filters. Choices apply immediately, typed text on Enter.
import { useEffect, useState } from 'preact/hooks'
import { fieldProblemOf } from '../api/errors.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { type Choice, SelectField, TextField } from '../ui/field.tsx'
import type { Names } from './names.ts'
import { isUuid, type SearchInAddress } from './search.ts'

const VERDICT_CHOICES = { '': 'All', compliant: 'Compliant', denied: 'Denied' }
/** Choices in minutes. */
const LAST_CHOICES: readonly Choice[] = [
  { value: '', label: 'Any time' },
  { value: '15', label: 'Last 15 minutes' },
  { value: '60', label: 'Last hour' },
  { value: '1440', label: 'Last 24 hours' },
  { value: '10080', label: 'Last 7 days' },
  { value: 'between', label: 'Between…' },
]

export const Filters = ({ search, names, error }: { search: SearchInAddress; names: Names; error: unknown }) => {
  const { path } = useWorkplace()
  const { filters, change, clear, narrowed } = search
  const [text, setText] = useState(filters.wallet)
  const [rule, setRule] = useState(filters.rule)
  // Links and the reset of all filters also change the URL.
  useEffect(() => setText(filters.wallet), [filters.wallet])
  useEffect(() => setRule(filters.rule), [filters.rule])
  const between = filters.last === 'between' || filters.since !== '' || filters.until !== ''
  const problem = fieldProblemOf(error)
  const find = (event: Event): void => {
    event.preventDefault()
    const wanted = text.trim()
    // A uuid identifies one decision, so open it directly.
    if (isUuid(wanted)) navigate(path(`/decisions/${wanted.toLowerCase()}`))
    else change({ wallet: wanted, rule: rule.trim() })
  }
  return (
    <search aria-label="Search decisions">
      <form class="search-rows" noValidate onSubmit={find}>
        <div class="filters">
          <div class="filter-wide">
            <TextField
              label="Wallet or UUID"
              mono
              type="search"
              value={text}
              onValue={setText}
              error={problem?.field === 'wallet' ? problem.text : undefined}
              input={{ 'data-search': true, maxLength: 100, placeholder: '0x… or a Solana address' }}
            />
          </div>
          <TextField
            label="Rule"
            mono
            type="search"
            value={rule}
            onValue={setRule}
            error={problem?.field === 'rule' ? problem.text : undefined}
            input={{ maxLength: 100 }}
          />
          <Button submit icon="search">
            Search
          </Button>
        </div>
        <div class="chips">
          <SelectField
            label="Verdict"
            value={filters.verdict}
            onValue={(verdict) => change({ verdict })}
            choices={VERDICT_CHOICES}
          />
          <SelectField
            label="Project"
            value={filters.project}
            onValue={(project) => change({ project })}
            choices={names.projects}
          />
          <SelectField
            label="Policy"
            value={filters.policy}
            onValue={(policy) => change({ policy })}
            choices={names.policies}
          />
          <SelectField
            label="Time"
            value={between ? 'between' : filters.last}
            onValue={(last) => change({ last, since: '', until: '' })}
            choices={LAST_CHOICES}
          />
          {between && (
            <>
              <TextField
                label="From"
                type="datetime-local"
                value={filters.since}
                onValue={(since) => change({ since })}
                input={{ step: 1 }}
              />
              <TextField
                label="Until"
                type="datetime-local"
                value={filters.until}
                onValue={(until) => change({ until })}
                input={{ step: 1 }}
              />
            </>
          )}
          {narrowed && (
            <Button
              kind="quiet"
              onClick={() => {
                setText('')
                setRule('')
                clear()
              }}
            >
              Clear
            </Button>
          )}
        </div>
      </form>
    </search>
  )
}
