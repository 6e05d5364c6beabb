import { locale } from './words.ts'

export const zone = 'America/Sao_Paulo'

const clock = new Intl.DateTimeFormat(locale, {
  timeZone: zone,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat(locale, { timeZone: zone, day: '2-digit', month: 'short' })
const wholeDay = new Intl.DateTimeFormat(locale, {
  timeZone: zone,
  day: '2-digit',
  month: 'short',
  year: 'numeric',
})
const month = new Intl.DateTimeFormat(locale, { timeZone: zone, month: 'short', year: '2-digit' })
const minute = new Intl.DateTimeFormat(locale, {
  timeZone: zone,
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
const currency = new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' })
const plain = new Intl.NumberFormat(locale)
const inDays = new Intl.NumberFormat(locale, { style: 'unit', unit: 'day', unitDisplay: 'long' })
const decimals = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 18,
})

/** The time without milliseconds. */
export const secondOf = (at: string): string => timeOf(at).slice(0, 8)
export const timeOf = (at: string): string => clock.format(new Date(at))
/** @param isWhole true: with its year */
export const dayOf = (at: string, isWhole = false): string =>
  (isWhole ? wholeDay : day).format(new Date(at))
export const monthOf = (at: Date): string => month.format(at)
export const minuteOf = (ms: number): string => minute.format(new Date(ms))
/** Rounded down, so that 100 % means all. */
export const percent = (part: number, whole: number): string =>
  share.format(Math.floor((part * 1_000) / whole) / 1_000)
export const count = (value: number): string => plain.format(value)
/** `1 day`, `2 days` */
export const daysText = (days: number): string => inDays.format(days)

/** A decimal as text, because a float would round it. */
type Decimal = `${number}`

/** @param amount reais as the API writes them, `10.50` */
export const reais = (amount: string): string => currency.format(amount as Decimal)

/**
 * @param minor an integer of the currency's minor units; it may be negative
 * @param unit its ISO 4217 letters, another name, or null if it is unknown
 */
export const minorOf = (minor: number, unit: string | null): string => {
  if (unit === null || !/^[A-Z]{3}$/.test(unit)) return tokens(decimalOf(minor), unit ?? '').trim()
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency: unit })
  return format.format(decimalOf(minor, format.resolvedOptions().maximumFractionDigits) as Decimal)
}

/** A decimal as the API writes it. */
export const decimalOf = (minor: number, places = 2): string => {
  const digits = String(Math.abs(minor)).padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  const part = digits.slice(whole.length)
  return `${minor < 0 ? '-' : ''}${whole}${part === '' ? '' : `.${part}`}`
}

export const tokens = (amount: string, unit: string): string =>
  `${decimals.format(amount as Decimal)} ${unit}`

const shortly = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]

/** In the unit that people would use: hundredths of a second below 10 s, then whole units. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${count(Math.round(ms))} ms`
  if (ms < 10_000) return `${shortly.format(ms / 1_000)} s`
  if (ms < 2 * minuteMs) return `${count(Math.round(ms / 1_000))} s`
  if (ms < 2 * hourMs) return `${count(Math.round(ms / minuteMs))} min`
  if (ms < 2 * dayMs) return `${count(Math.round(ms / hourMs))} h`
  return `${count(Math.round(ms / dayMs))} d`
}
