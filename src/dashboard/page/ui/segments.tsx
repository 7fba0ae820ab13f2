import type { Choice } from './field.tsx'

interface SegmentsProps {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly value: string
  readonly onValue: (value: string) => void
}

export const Segments = ({ label, choices, value, onValue }: SegmentsProps) => (
  <fieldset class="segments">
    <legend class="sr-only">{label}</legend>
    {choices.map((choice) => (
      <button
        key={choice.value}
        type="button"
        class="segment"
        aria-pressed={choice.value === value}
        onClick={() => onValue(choice.value)}
      >
        {choice.label}
      </button>
    ))}
  </fieldset>
)
