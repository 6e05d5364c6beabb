/** The beginning of a text, in whole characters: PostgreSQL refuses half of a surrogate pair in JSON, and so does XML. */
export const firstCharacters = (text: string, charactersMax: number): string =>
  text.length <= charactersMax
    ? text
    : [...text.slice(0, 2 * charactersMax)].slice(0, charactersMax).join('')
