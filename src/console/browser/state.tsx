/** Colour is never alone: a sign and a word say the same. */
type Tone = 'settled' | 'pending' | 'failed' | 'unknown' | 'info'

const tones: Readonly<Record<string, Tone>> = {
  ACCEPTED: 'settled',
  PROCESSED: 'settled',
  settled: 'settled',
  authorized: 'settled',
  captured: 'settled',
  confirmed: 'settled',
  delivered: 'settled',
  done: 'settled',
  ok: 'settled',
  up: 'settled',
  active: 'settled',
  REJECTED: 'failed',
  FAILED: 'failed',
  rejected: 'failed',
  failed: 'failed',
  declined: 'failed',
  reverted: 'failed',
  forbidden: 'failed',
  refused: 'failed',
  exhausted: 'failed',
  down: 'failed',
  UNKNOWN: 'unknown',
  unknown: 'unknown',
  voided: 'info',
  cancelled: 'info',
}

const signs: Readonly<Record<Tone, string>> = {
  settled: 'M3.5 8.5l3 3 6-7',
  pending: 'M8 4.5V8l2.5 1.5M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2',
  failed: 'M4.5 4.5l7 7m0-7l-7 7',
  unknown: 'M5.8 6.2a2.2 2.2 0 1 1 3 2c-.6.3-.8.7-.8 1.4m0 2.4v.2',
  info: 'M3.5 8h9m-4-4l4 4-4 4',
}

const toneOf = (status: string): Tone => tones[status] ?? 'pending'

export const Sign = ({ status }: { readonly status: string }) => (
  <svg class="sign" viewBox="0 0 16 16" aria-hidden="true">
    <path d={signs[toneOf(status)]} />
  </svg>
)

export const toneClass = (status: string): string => `tone-${toneOf(status)}`

export const Badge = ({ status, label }: { readonly status: string; readonly label?: string }) => (
  <span class={`badge ${toneClass(status)}`}>
    <Sign status={status} />
    {label ?? status.toLowerCase().replaceAll('_', ' ')}
  </span>
)
