import type { DocumentKind } from '../../../domain/requirements.ts'

const Lines = ({
  from,
  widths,
  x,
}: {
  readonly from: number
  readonly widths: readonly number[]
  readonly x: number
}) => (
  <>
    {widths.map((width, index) => (
      <rect
        key={`${x}-${from + index * 9}`}
        class="ill-soft"
        x={x}
        y={from + index * 9}
        width={width}
        height={4}
        rx={2}
      />
    ))}
  </>
)

const Figure = ({ x, y, scale }: { readonly x: number; readonly y: number; readonly scale: number }) => (
  <g transform={`translate(${x} ${y}) scale(${scale})`}>
    <circle class="ill-accent" cx={12} cy={9} r={6} />
    <path class="ill-accent" d="M1 27c1-7 5.5-10 11-10s10 3 11 10z" />
  </g>
)

export const Illustration = ({ kind }: { readonly kind: DocumentKind }) => (
  <svg class="illustration" viewBox="0 0 96 72" width={96} height={72} aria-hidden="true" focusable="false">
    {kind === 'identity-document' && (
      <>
        <rect class="ill-paper" x={8} y={11} width={80} height={50} rx={6} />
        <rect class="ill-tint" x={15} y={20} width={27} height={32} rx={3} />
        <Figure x={16.5} y={23} scale={1} />
        <Lines from={22} widths={[32, 24, 30, 18]} x={49} />
      </>
    )}
    {kind === 'portrait' && (
      <>
        <rect class="ill-paper" x={20} y={5} width={56} height={62} rx={8} />
        <ellipse class="ill-tint" cx={48} cy={36} rx={20} ry={25} />
        <Figure x={29} y={16} scale={1.58} />
        <ellipse class="ill-dash" cx={48} cy={36} rx={20} ry={25} />
      </>
    )}
    {kind === 'proof-of-address' && (
      <>
        <rect class="ill-paper" x={22} y={4} width={52} height={64} rx={5} />
        <path class="ill-accent" d="M30 22l9-8 9 8v10H30z" />
        <Lines from={14} widths={[14, 10]} x={54} />
        <Lines from={40} widths={[36, 30, 34]} x={30} />
      </>
    )}
    {kind === 'registration-document' && (
      <>
        <rect class="ill-paper" x={22} y={4} width={52} height={64} rx={5} />
        <Lines from={13} widths={[24, 36, 30, 36]} x={30} />
        <circle class="ill-tint" cx={60} cy={54} r={9} />
        <circle class="ill-accent" cx={60} cy={54} r={5} />
      </>
    )}
  </svg>
)
