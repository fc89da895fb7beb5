/*
 * Writing .npy, whole or not at all, wherever a path may lead.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 18, ORPHAN_SECONDS = 20 };  // LARGE elements are more than a pipe holds
static const float zeros[LARGE];

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    return path;
}

/* What is in a file, up to `size` bytes; returns how many there are. */
static size_t content(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s is not there", path);
    const size_t found = fread(bytes, 1, size, file);
    fclose(file);
    return found;
}

static bool write_zeros(const char *path, size_t count, struct file_error *error)
{
    return npy_write(path, NPY_F4, 1, &count, zeros, error);
}

TEST(npy_write, writes_every_byte_as_np_save_does)
{
    static const char *const names[] = { "q", "key_mask", "scores" };
    static char before[800000], after[800000];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct npy array;
        struct file_error error;
        char source[100];
        snprintf(source, sizeof source, "common/data/%s.npy", names[k]);
        cr_assert(npy_read(source, &array, &error), "%s: %s", source, error.text);
        cr_assert(
            npy_write(path_of("y.npy"), array.type, array.dims, array.shape, array.data, &error),
            "%s", error.text);
        npy_free(&array);
        const size_t size = content(source, before, sizeof before);
        cr_assert(size < sizeof before, "%s is larger than thought", source);
        cr_assert(content(path_of("y.npy"), after, sizeof after) == size &&
                      memcmp(before, after, size) == 0,
                  "%s: not the same %zu bytes again", source, size);
    }
}

TEST(npy_write, writes_every_type)
{
    static const unsigned char data[48] = { 1, 0, 1, 0, 0, 1, 7, 8, 9, 10, 11, 12 };
    static const size_t sizes[] = {
        [NPY_F2] = 2, [NPY_F4] = 4, [NPY_F8] = 8, [NPY_B1] = 1, [NPY_U1] = 1
    };
    for (int type = NPY_F2; type <= NPY_U1; type++) {
        struct npy array;
        struct file_error error;
        cr_assert(npy_write(path_of("y.npy"), (enum npy_type)type, 3, (size_t[]){ 1, 3, 2 }, data,
                            &error) &&
                      npy_read(path_of("y.npy"), &array, &error),
                  "type %d: %s", type, error.text);
        cr_assert((int)array.type == type && array.dims == 3 && array.shape[1] == 3 &&
                      memcmp(array.data, data, 6 * sizes[type]) == 0,
                  "type %d: came back as type %d, or with other data", type, (int)array.type);
        npy_free(&array);
    }
}

TEST(npy_write, gives_the_file_the_usual_mode)
{
    static const mode_t masks[] = { 0, 022, 027, 077 };
    struct file_error error;
    for (size_t k = 0; k < sizeof masks / sizeof masks[0]; k++) {
        struct stat there;
        umask(masks[k]);
        remove(path_of("y.npy"));
        cr_assert(write_zeros(path_of("y.npy"), 5, &error), "%s", error.text);
        cr_assert(stat(path_of("y.npy"), &there) == 0 &&
                      (there.st_mode & 07777) == (0666 & ~masks[k]),
                  "mode %03o under mask %03o", (unsigned)there.st_mode & 07777, (unsigned)masks[k]);
        cr_assert(umask(022) == masks[k], "changed the mask");
    }
    cr_assert(command_files() == 1, "left %d files", command_files());
}

TEST(npy_write, keeps_the_mode_and_owner_of_what_it_replaces)
{
    struct stat there;
    struct file_error error;
    command_file("y.npy", "old", 3);
    cr_assert(chmod(path_of("y.npy"), 0640) == 0, "no mode");
    cr_assert(write_zeros(path_of("y.npy"), 5, &error), "%s", error.text);
    cr_assert(stat(path_of("y.npy"), &there) == 0 && (there.st_mode & 07777) == 0640, "mode %03o",
              (unsigned)there.st_mode & 07777);

    // Root may write another user's file, who could not read it afterwards.
    if (chown(path_of("y.npy"), 1234, 1235) != 0)
        return;
    cr_assert(write_zeros(path_of("y.npy"), 5, &error), "%s", error.text);
    cr_assert(stat(path_of("y.npy"), &there) == 0 && there.st_uid == 1234 && there.st_gid == 1235 &&
                  (there.st_mode & 07777) == 0640,
              "of %u, %u, mode %03o", (unsigned)there.st_uid, (unsigned)there.st_gid,
              (unsigned)there.st_mode & 07777);
}

TEST(whole_files, are_new_together_or_not_at_all)
{
    char y[300], z[300], old[20] = "";
    struct file_error error;
    struct bytes piece = { "new", 3 };
    size_t failed = 9;
    snprintf(y, sizeof y, "%s/y", command_folder());
    snprintf(z, sizeof z, "%s/z", command_folder());
    command_file("y", "old", 3);
    const struct whole_file files[] = { { y, &piece, 1 },
                                        { z, &piece, 1 },
                                        { "/dev/full", &piece, 1 } };
    cr_assert(!whole_files_write(files, 3, &failed, &error) && failed == 2, "%zu: %s", failed,
              error.text);
    cr_assert(content(y, old, 19) == 3 && strcmp(old, "old") == 0 && command_files() == 1,
              "there are %d files, and in the first is %s", command_files(), old);
    cr_assert(whole_files_write(files, 2, &failed, &error), "%s", error.text);
    cr_assert(content(y, old, 19) == 3 && strcmp(old, "new") == 0 && command_files() == 2,
              "there are %d files, and in the first is %s", command_files(), old);
    cr_assert(whole_files_write(files, 0, &failed, &error), "none of them: %s", error.text);
}

TEST(npy_write, replaces_what_a_link_points_to)
{
    struct stat link;
    struct npy array;
    struct file_error error;
    command_file("target.npy", "old", 3);
    cr_assert(symlink("target.npy", path_of("link.npy")) == 0, "no link");
    cr_assert(write_zeros(path_of("link.npy"), 5, &error), "%s", error.text);
    cr_assert(lstat(path_of("link.npy"), &link) == 0 && S_ISLNK(link.st_mode), "the link is gone");
    cr_assert(npy_read(path_of("target.npy"), &array, &error), "%s", error.text);
    npy_free(&array);
    cr_assert(command_files() == 2, "left %d files", command_files());
}

TEST(npy_write, writes_into_the_current_folder_too)
{
    struct file_error error;
    cr_assert(chdir(command_folder()) == 0, "no folder");
    cr_assert(write_zeros("y.npy", 5, &error), "%s", error.text);
    cr_assert(command_made("y.npy") && command_files() == 1, "%d files", command_files());
}

/* As write_zeros, but not with root's rights: code gone wrong would replace the device for good. */
static bool write_zeros_as_anyone(const char *path, size_t count, struct file_error *error)
{
    const uid_t user = geteuid();
    cr_assert(user != 0 || seteuid(65534) == 0, "root for ever");
    const bool good = write_zeros(path, count, error);
    cr_assert(seteuid(user) == 0, "no way back");
    return good;
}

/* It fails with this message, and what was there is there still: y.npy and nothing else. */
static void fails(const char *path, const char *message)
{
    struct file_error error = { "" };
    char there[20] = "";
    command_file("y.npy", "precious", 8);
    const bool device = strncmp(path, "/dev/", 5) == 0;
    cr_assert(!(device ? write_zeros_as_anyone : write_zeros)(path, LARGE, &error), "%s: wrote it",
              path);
    cr_assert(strcmp(error.text, message) == 0, "%s: said \"%s\"", path, error.text);
    cr_assert(content(path_of("y.npy"), there, 19) == 8 && strcmp(there, "precious") == 0,
              "%s: destroyed what was there", path);
    cr_assert(command_files() == 1, "%s: left %d files", path, command_files());
}

TEST(npy_write, fails_where_nothing_can_be_written)
{
    char path[300];
    fails("/dev/full", "expected to write all of it, found: No space left on device");
    snprintf(path, sizeof path, "%s/none/y.npy", command_folder());
    fails(path, "expected a folder that can be written, found: No such file or directory");
    fails(command_folder(), "expected a file to write, found: Is a directory");
    snprintf(path, sizeof path, "%s/y.npy/y.npy", command_folder());
    fails(path, "expected a folder that can be written, found: Not a directory");
}

TEST(npy_write, survives_a_limit_on_the_size_of_files)
{
    char path[300];
    struct rlimit before, little;
    struct sigaction action;
    cr_assert(getrlimit(RLIMIT_FSIZE, &before) == 0, "no limit to change");
    little = before;
    little.rlim_cur = 100000;
    cr_assert(setrlimit(RLIMIT_FSIZE, &little) == 0, "no limit");
    snprintf(path, sizeof path, "%s/y.npy", command_folder());
    fails(path, "expected to write all of it, found: File too large");
    cr_assert(setrlimit(RLIMIT_FSIZE, &before) == 0, "no way back");
    cr_assert(sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL,
              "left the signal ignored");
}

/* A child that opens the pipe at `path` and reads up to `most` bytes; its status is 0 if it can. */
static pid_t reader_of(const char *path, size_t most)
{
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        alarm(ORPHAN_SECONDS);
        const int end = open(path, O_RDONLY);
        size_t found = 0;
        while (found < most && read(end, &byte, 1) == 1)
            found++;
        _exit(found == most ? 0 : 1);
    }
    return child;
}

TEST(npy_write, writes_into_a_pipe_until_its_reader_goes)
{
    int status = -1;
    struct file_error error = { "" };
    struct sigaction action;
    cr_assert(mkfifo(path_of("pipe"), 0600) == 0, "no pipe");
    pid_t child = reader_of(path_of("pipe"), 128 + 20);
    cr_assert(write_zeros(path_of("pipe"), 5, &error), "%s", error.text);
    cr_assert(waitpid(child, &status, 0) == child && status == 0, "it is too short");

    child = reader_of(path_of("pipe"), 10);
    cr_assert(!write_zeros(path_of("pipe"), LARGE, &error), "nobody read it");
    cr_assert(strcmp(error.text, "expected to write all of it, found: Broken pipe") == 0,
              "said \"%s\"", error.text);
    waitpid(child, &status, 0);
    cr_assert(command_files() == 1, "left %d files", command_files());
    cr_assert(sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL,
              "left the signal ignored");
}

TEST(npy_write, leaves_nothing_behind_when_it_is_ended)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
    char path[300];
    struct file_error error;
    snprintf(path, sizeof path, "%s/y.npy", command_folder());
    cr_assert(write_zeros(path, LARGE, &error), "%s", error.text);
    // Before the child is there: on a busy machine a signal reaches it before its first line does, and a shell has what it
    // starts in the background ignore SIGINT.
    for (size_t k = 0; k < 3; k++)
        signal(signals[k], SIG_DFL);
    for (int round = 0; round < 30; round++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(ORPHAN_SECONDS);
            while (write_zeros(path, LARGE, &error))
                ;
            _exit(1);
        }
        int status;
        struct npy array;
        nanosleep(&(struct timespec){ .tv_nsec = 300000 * (round + 1) }, NULL);
        kill(child, signals[round % 3]);
        cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
                      WTERMSIG(status) == signals[round % 3],
                  "round %d: the signal was lost, or a file not written", round);
        cr_assert(command_files() == 1, "round %d: left %d files", round, command_files());
        cr_assert(npy_read(path, &array, &error), "round %d: %s", round, error.text);
        npy_free(&array);
    }
}

TEST(same_file, sees_through_links_and_folders)
{
    cr_assert(chdir(command_folder()) == 0 && mkdir("out", 0755) == 0, "no folder");
    command_file("x.npy", "x", 1);
    command_file("z.npy", "z", 1);
    cr_assert(symlink("x.npy", "soft") == 0 && link("x.npy", "hard") == 0 &&
                  symlink("..", "out/up") == 0,
              "no links");
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "x.npy", "x.npy", true },        { "x.npy", "./x.npy", true },
        { "x.npy", "out/../x.npy", true }, { "x.npy", "soft", true },
        { "x.npy", "hard", true },         { "soft", "hard", true },
        { "x.npy", "z.npy", false },       { "x.npy", "out/x.npy", false },
        { "y.npy", "y.npy", true },        { "y.npy", "out/../y.npy", true },
        { "out/up/y.npy", "y.npy", true }, { "y.npy", "out/y.npy", false },
        { "y.npy", "x.npy", false },       { "x.npy", "y.npy", false },
        { "none/y.npy", "y.npy", false },  { "y.npy", "y.npz", false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        cr_assert(same_file(cases[k].a, cases[k].b) == cases[k].same, "%s and %s: expected %s",
                  cases[k].a, cases[k].b, cases[k].same ? "the same" : "two files");
    char path[300];
    snprintf(path, sizeof path, "%s/y.npy", command_folder());
    cr_assert(same_file("y.npy", path) && same_file(path, "out/up/y.npy"), "not by its full path");
}
