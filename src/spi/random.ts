import { createRandomText } from '#codecs/iso20022'

/** For the identifiers of what we send. */
export const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
