/** What the endpoint of a key is told of: the first step says whose interface it is, the second what is told. */
const prefix = 'api-pix/pix/'

export const topicPrefix = prefix

export const topicOf = (key: string): string => prefix + key

export const keyOf = (topic: string): string => topic.slice(prefix.length)
