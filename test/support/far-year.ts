/** A year whose days all lie ahead for long, and not so far that none of them may be due. */
export const farYear = String(new Date().getUTCFullYear() + 2)
