import type { ChainView } from '../../contract.ts'
import { Field } from '../ui/parts.tsx'

interface ChainFieldProps {
  readonly id: string
  readonly label: string
  readonly chains: readonly ChainView[]
  readonly chainId: number | null
  readonly onChange: (chainId: number) => void
}

export const ChainField = ({ id, label, chains, chainId, onChange }: ChainFieldProps) => (
  <Field id={id} label={label}>
    {(attributes) => (
      <select {...attributes} value={String(chainId)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {chains.map((chain) => (
          <option key={chain.chainId} value={String(chain.chainId)}>
            {chain.title}
          </option>
        ))}
      </select>
    )}
  </Field>
)
