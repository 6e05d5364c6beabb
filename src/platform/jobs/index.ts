export { every } from './clock.ts'
export { createJob, type Job, nothingFound, type Round, runningJobs } from './job.ts'
export { createLoop, type Loop, type WatchedLoop, type Work } from './loop.ts'
export { createStallWatch, type StallWatch } from './stall-watch.ts'
