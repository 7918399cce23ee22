import { JobFailedError, NoResponseError } from "./errors.js";
import type { Job, Pressroom } from "./generated.js";
import type { Answer } from "./runtime.js";

const maxWaitSeconds = 20; // maximum wait_seconds of get_job
const firstPause = 200;
const longestPause = 5_000;

export interface WaitOptions {
  signal?: AbortSignal;
}

/**
 * Waits until a job has ended. If the job failed completely or partially, the promise is rejected with a JobFailedError, which contains the job. If
 * the signal is aborted, the promise is rejected with a NoResponseError. The job itself continues.
 */
export async function wait(client: Pressroom, jobId: string, options: WaitOptions = {}): Promise<Answer<Job>> {
  const seconds = Math.min(maxWaitSeconds, Math.floor(client.attemptTimeout / 2000)); // at most half of the attempt's timeout
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    const start = Date.now();
    const answer = await client.getJob({ job_id: jobId, wait_seconds: seconds }, options);
    const job = answer.data;
    if (job.finished) {
      if (job.state === "failed" || job.state === "partially_succeeded") throw new JobFailedError(job);
      return answer;
    }
    if (seconds > 0 && Date.now() - start > seconds * 500) pause = firstPause;
    try {
      await client.policy.sleep(pause / 2 + Math.random() * (pause / 2), options.signal);
    } catch (error) {
      throw new NoResponseError("get_job", undefined, 1, options.signal?.reason ?? error);
    }
  }
}
