/* A program that libview_profile.so holds (VP_ONE_LIBRARY in CMakeLists.txt): VP_MAIN is its main()
 * there. */
int VP_MAIN(int argc, char **argv);

int main(int argc, char **argv)
{
    return VP_MAIN(argc, argv);
}
