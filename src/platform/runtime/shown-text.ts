/** What people are shown, and what of it deceives them. */

/** White space, and what shows as nothing. */
const blank = /^[\s\u00ad\u200b-\u200d\u2060\ufeff]*$/
/** Marks, embeddings, overrides and isolates of direction: with them a text shows as another. */
const directional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Whether a text holds nothing that can be seen. */
export const isBlank = (text: string): boolean => blank.test(text)

export const changesDirection = (text: string): boolean => directional.test(text)
