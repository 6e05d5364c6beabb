/** A form of secret, and what is written in its place. */
type CredentialForm = { readonly form: RegExp; readonly shown: string }

const credentialForms: readonly CredentialForm[] = [
  {
    // Also one that was cut off: to the end.
    form: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
    shown: '[private key]',
  },
  { form: /\btrl_(live|test)_([0-9A-Za-z]{1,32})_[0-9A-Za-z]+/g, shown: 'trl_$1_$2_***' },
  { form: /\bwhs(ec|k)_(?!\*)[A-Za-z0-9+/=_-]+/g, shown: 'whs$1_***' },
  { form: /\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]+/gi, shown: '$1$2***' },
  {
    // The password of a URL, with unescaped `/` and `@` in it too; `host:port/…@` is none.
    form: /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@"'<>]*):(?!\d{1,5}[/?#])(?!\*\*\*@)[^\s"'<>]+@/gi,
    shown: '$1:***@',
  },
  {
    form: /\b(password|passwd|pwd|secret|api_?key)(\s*=\s*)(?!\*\*\*)(?:'[^']*'|[^\s&;"',]+)/gi,
    shown: '$1$2***',
  },
  {
    // Security codes and PINs, in a text that is itself JSON or a form.
    form: /\b(cvv2?|cvc2?|pin)(\\*["']?\s*[:=]\s*\\*["']?)\d{3,12}\b/gi,
    shown: '$1$2***',
  },
]

const hint =
  /trl_|whs(?:ec|k)_|private key|bearer|basic|:\/\/|passw|pwd|secret|api_?key|\bcv[vc]|\bpin\b/i

/** False: no credential can be in the text, and most texts end here. */
const mayHoldCredential = (text: string): boolean => hint.test(text)

export const holdsCredential = (text: string): boolean =>
  mayHoldCredential(text) && credentialForms.some(({ form }) => text.search(form) >= 0)

export const withoutCredentials = (text: string): string =>
  mayHoldCredential(text)
    ? credentialForms.reduce((rest, { form, shown }) => rest.replaceAll(form, shown), text)
    : text
