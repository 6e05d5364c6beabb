import type { QueueState } from './types.ts'

/** A process that is started anew reads its queues again before. */
const unreadAfterSeconds = 30

/** Messages wait in the queue, and no live process reads it. */
export const isUnread = ({ depth, ageSeconds, partitionsRead }: QueueState): boolean =>
  depth > 0 && partitionsRead === 0 && ageSeconds > unreadAfterSeconds
