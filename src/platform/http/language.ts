/** The languages of what people read: `title` and `detail` of errors, their pages, `response_message` of cards. */
export type Language = 'en' | 'pt-BR'

/** Far more than a browser sends; of a longer header nothing counts. */
export const acceptLanguageCharactersMax = 256

const tagForm = /^(?:[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8}|\*)$/
const qualityForm = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

type Range = { readonly language: string; readonly quality: number }

const rangesOf = (header: string): readonly Range[] =>
  header.split(',').flatMap((part) => {
    const [tag = '', weight = 'q=1', ...more] = part.split(';').map((text) => text.trim())
    const [, quality] = qualityForm.exec(weight) ?? []
    if (!tagForm.test(tag) || quality === undefined || more.length > 0) return []
    return [{ language: tag.split('-', 1)[0]?.toLowerCase() ?? '', quality: Number(quality) }]
  })

/**
 * The language that `Accept-Language` prefers (RFC 9110, section 12.5.4). Portuguese of any country is ours of Brazil;
 * English stands where Portuguese is not asked for by name, and where both are equal and it comes first.
 */
export const languageOf = (header: string | null): Language => {
  if (header === null || header.length > acceptLanguageCharactersMax) return 'en'
  const ranges = rangesOf(header)
  const best = (language: string) =>
    ranges.reduce<Range & { readonly at: number }>(
      (found, range, at) =>
        range.language === language && range.quality > found.quality ? { ...range, at } : found,
      { language, quality: 0, at: ranges.length },
    )
  const portuguese = best('pt')
  const isNamed = ranges.some(({ language }) => language === 'en')
  const english = isNamed ? best('en') : best('*')
  if (portuguese.quality !== english.quality) {
    return portuguese.quality > english.quality ? 'pt-BR' : 'en'
  }
  return portuguese.at < english.at ? 'pt-BR' : 'en'
}
