const digit0 = 48
const digit9 = 57
const space = 32
const hyphen = 45
const panDigitsMin = 13
const panDigitsMax = 19

const keyForm = /\btrl_(live|test)_([0-9A-Za-z]{1,32})_[0-9A-Za-z]+/g
const bearerForm = /\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]+/gi
const cpfForm = /\b\d{3}\.\d{3}\.\d{3}-\d{2}\b/g
const cnpjForm = /\b[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}\b/g
const wordForm = /trl_|bearer|basic|\d\.\d{3}\.\d{3}|[0-9A-Z]\.[0-9A-Z]{3}\//i

/**
 * Replaces what must never reach a log: card numbers (13 to 19 digits that pass the Luhn test, also
 * grouped by blanks or hyphens), CPF and CNPJ with right check digits, API keys, credentials.
 * Works on the finished line, so that no caller can forget it.
 */
export const scrub = (line: string): string => {
  const digitsDone = scrubDigits(line)
  if (!wordForm.test(digitsDone)) return digitsDone
  return digitsDone
    .replace(keyForm, 'trl_$1_$2_***')
    .replace(bearerForm, '$1$2***')
    .replace(cpfForm, '***.***.***-**')
    .replace(cnpjForm, '**.***.***/****-**')
}

/** Passes over the line once, and copies it only if a run of digits must go. */
const scrubDigits = (line: string): string => {
  let out = ''
  let copied = 0
  let at = 0
  while (at < line.length) {
    const code = line.charCodeAt(at)
    if (code < digit0 || code > digit9) {
      at++
      continue
    }
    const end = runEnd(line, at)
    if (end - at >= 11) {
      const masked = maskRun(line.slice(at, end))
      if (masked !== undefined) {
        out += line.slice(copied, at) + masked
        copied = end
      }
    }
    at = end
  }
  return copied === 0 ? line : out + line.slice(copied)
}

/** The end of a run of digits in which single blanks or hyphens may stand between digits. */
const runEnd = (line: string, start: number): number => {
  let end = start + 1
  while (end < line.length) {
    const code = line.charCodeAt(end)
    if (code >= digit0 && code <= digit9) {
      end++
      continue
    }
    if (code !== space && code !== hyphen) break
    const next = line.charCodeAt(end + 1)
    if (!(next >= digit0 && next <= digit9)) break
    end += 2
  }
  return end
}

const maskRun = (run: string): string | undefined => {
  const digits = run.replace(/[ -]/g, '')
  if (digits.length >= panDigitsMin && digits.length <= panDigitsMax && passesLuhn(digits)) {
    return '[card number]'
  }
  if (digits.length === 11 && isCpf(digits)) return '[document]'
  if (digits.length === 14 && isCnpj(digits)) return '[document]'
  return undefined
}

const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - digit0

const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digitAt(digits, digits.length - 1 - index)
    const weighted = index % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

/** The check digit of CPF and CNPJ: weights count up from 2 at the right end, back to 2 after `last`. */
const checkDigit = (digits: string, length: number, last: number): number => {
  let sum = 0
  for (let index = 0; index < length; index++) {
    sum += digitAt(digits, length - 1 - index) * (2 + (index % (last - 1)))
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

const isCpf = (digits: string): boolean =>
  checkDigit(digits, 9, 11) === digitAt(digits, 9) &&
  checkDigit(digits, 10, 12) === digitAt(digits, 10)

const isCnpj = (digits: string): boolean =>
  checkDigit(digits, 12, 9) === digitAt(digits, 12) &&
  checkDigit(digits, 13, 9) === digitAt(digits, 13)
